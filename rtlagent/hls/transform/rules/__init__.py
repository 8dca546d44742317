"""Local rewrite rules: one operation and its operands' operations in, a cheaper value out.

A rule is `rule(op, rewriter) -> Value | None`: None if it does not apply, `op` itself if it changed the operation in
place, else the value to use instead.
"""
