# Takes the place of a function, RTLAGENT_TOP, whose body was renamed to RTLAGENT_BODY: records what
# goes in and what comes out without knowing its type. x86-64 System V: arguments are in six integer
# and eight vector registers, then on the stack. The body gets all of them untouched, for only the
# return address is replaced.
	.text
	.globl	RTLAGENT_TOP
	.type	RTLAGENT_TOP, @function
RTLAGENT_TOP:
	pushq	%rbp
	movq	%rsp, %rbp
	subq	$192, %rsp
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%rax, 176(%rsp)
	movups	%xmm0, 48(%rsp)
	movups	%xmm1, 64(%rsp)
	movups	%xmm2, 80(%rsp)
	movups	%xmm3, 96(%rsp)
	movups	%xmm4, 112(%rsp)
	movups	%xmm5, 128(%rsp)
	movups	%xmm6, 144(%rsp)
	movups	%xmm7, 160(%rsp)
	movq	%rsp, %rdi
	leaq	16(%rbp), %rsi
	call	rtlagent_call_begin
	movq	(%rsp), %rdi
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rcx
	movq	32(%rsp), %r8
	movq	40(%rsp), %r9
	movq	176(%rsp), %rax
	movups	48(%rsp), %xmm0
	movups	64(%rsp), %xmm1
	movups	80(%rsp), %xmm2
	movups	96(%rsp), %xmm3
	movups	112(%rsp), %xmm4
	movups	128(%rsp), %xmm5
	movups	144(%rsp), %xmm6
	movups	160(%rsp), %xmm7
	leave
	jmp	RTLAGENT_BODY
	.size	RTLAGENT_TOP, .-RTLAGENT_TOP

# Where the body returns to.
	.globl	rtlagent_return
	.type	rtlagent_return, @function
rtlagent_return:
	subq	$48, %rsp
	movq	%rax, (%rsp)
	movq	%rdx, 8(%rsp)
	movups	%xmm0, 16(%rsp)
	movq	%rsp, %rdi
	call	rtlagent_call_end
	movq	%rax, %r11
	movq	(%rsp), %rax
	movq	8(%rsp), %rdx
	movups	16(%rsp), %xmm0
	addq	$48, %rsp
	jmp	*%r11
	.size	rtlagent_return, .-rtlagent_return
	.section	.note.GNU-stack,"",@progbits
