// Integers of any width for C++ kernels: ap_int<W> (signed) and ap_uint<W> (unsigned).
//
// The names and the rules are the ones that HLS users know: results of + - * are as wide as they can get, assignment keeps the
// low bits, & | ^ work on the wider of both widths, shifts keep the left operand's type. The values are clang's
// _BitInt, so that hardware and native program come from one definition.
#ifndef RTLAGENT_AP_INT_H
#define RTLAGENT_AP_INT_H

template <int W, bool S> struct ap_int_base;

namespace rtlagent {

template <int W, bool S> struct bits;
template <int W> struct bits<W, true> { typedef _BitInt(W) type; };
template <int W> struct bits<W, false> { typedef unsigned _BitInt(W) type; };
// A signed _BitInt has at least two bits.
template <> struct bits<1, true> { typedef _BitInt(2) type; };

constexpr int most(int a, int b) { return a > b ? a : b; }
// Width and sign of a value of either sign that holds both operands.
constexpr int common(int a, bool sa, int b, bool sb) { return most(a + (sb && !sa), b + (sa && !sb)); }

// Which C types mix with ap_int, as which widths.
template <typename T> struct native { static constexpr int width = 0; static constexpr bool is_signed = false; };
#define RTLAGENT_NATIVE(T, W, S) \
  template <> struct native<T> { static constexpr int width = W; static constexpr bool is_signed = S; };
RTLAGENT_NATIVE(bool, 1, false)
RTLAGENT_NATIVE(char, 8, true)
RTLAGENT_NATIVE(signed char, 8, true)
RTLAGENT_NATIVE(unsigned char, 8, false)
RTLAGENT_NATIVE(short, 16, true)
RTLAGENT_NATIVE(unsigned short, 16, false)
RTLAGENT_NATIVE(int, 32, true)
RTLAGENT_NATIVE(unsigned, 32, false)
RTLAGENT_NATIVE(long, 64, true)
RTLAGENT_NATIVE(unsigned long, 64, false)
RTLAGENT_NATIVE(long long, 64, true)
RTLAGENT_NATIVE(unsigned long long, 64, false)
#undef RTLAGENT_NATIVE

template <bool C, typename T> struct only_if {};
template <typename T> struct only_if<true, T> { typedef T type; };

// One bit of a value, as a place that can be assigned to.
template <int W, bool S> struct bit_reference {
  ap_int_base<W, S> &of;
  int at;
  operator bool() const { return of.get_bit(at); }
  bit_reference &operator=(bool value) { of.set_bit(at, value); return *this; }
  bit_reference &operator=(const bit_reference &other) { return *this = bool(other); }
  bool operator~() const { return !bool(*this); }
};

// Bits high to low of a value, as a place that can be assigned to.
template <int W, bool S> struct range_reference {
  ap_int_base<W, S> &of;
  int high, low;
  typedef typename bits<W, false>::type word;
  ap_int_base<W, false> get() const { return of.get_range(high, low); }
  operator ap_int_base<W, false>() const { return get(); }
  operator unsigned long long() const { return (unsigned long long)of.get_range(high, low).value; }
  int to_int() const { return (int)of.get_range(high, low).value; }
  unsigned to_uint() const { return (unsigned)of.get_range(high, low).value; }
  template <typename T> range_reference &operator=(const T &other) {
    of.set_range(high, low, (word)ap_int_base<W, false>(other).value);
    return *this;
  }
  range_reference &operator=(const range_reference &other) { return *this = other.get(); }
};

}  // namespace rtlagent

template <int W, bool S> struct ap_int_base {
  typedef typename rtlagent::bits<W, S>::type type;
  typedef typename rtlagent::bits<W, false>::type word;
  static constexpr int width = W;
  type value;

  ap_int_base() = default;
  ap_int_base(const ap_int_base &) = default;
  ap_int_base &operator=(const ap_int_base &) = default;
  template <int V, bool T> ap_int_base(const ap_int_base<V, T> &other) : value(keep(other.value)) {}
  template <int V, bool T> ap_int_base(const rtlagent::range_reference<V, T> &r) : value(keep(r.get().value)) {}
  template <typename T, typename = typename rtlagent::only_if<rtlagent::native<T>::width != 0, T>::type>
  ap_int_base(T other) : value(keep(other)) {}

  // The low W bits, with the sign of the type.
  template <typename T> static type keep(T other) {
    if constexpr (W == 1 && S) return (type)(-(type)((unsigned _BitInt(1))other));
    else return (type)other;
  }

  operator type() const { return value; }
  int to_int() const { return (int)value; }
  unsigned to_uint() const { return (unsigned)value; }
  long long to_int64() const { return (long long)value; }
  unsigned long long to_uint64() const { return (unsigned long long)value; }
  int length() const { return W; }

  bool get_bit(int at) const { return (bool)(((word)value >> at) & 1); }
  void set_bit(int at, bool bit) {
    word mask = (word)((word)1 << at);
    value = keep((word)(bit ? ((word)value | mask) : ((word)value & (word)~mask)));
  }
  bool test(int at) const { return get_bit(at); }
  void set(int at) { set_bit(at, true); }
  void clear(int at) { set_bit(at, false); }
  rtlagent::bit_reference<W, S> operator[](int at) { return {*this, at}; }
  bool operator[](int at) const { return get_bit(at); }

  ap_int_base<W, false> get_range(int high, int low) const {
    word mask = (word)((word)~(word)0 >> (W - 1 - (high - low)));
    return ap_int_base<W, false>::of((word)(((word)value >> low) & mask));
  }
  void set_range(int high, int low, word bits_) {
    word mask = (word)((word)((word)~(word)0 >> (W - 1 - (high - low))) << low);
    value = keep((word)(((word)value & (word)~mask) | ((word)(bits_ << low) & mask)));
  }
  rtlagent::range_reference<W, S> range(int high, int low) { return {*this, high, low}; }
  rtlagent::range_reference<W, S> operator()(int high, int low) { return {*this, high, low}; }
  ap_int_base<W, false> range(int high, int low) const { return get_range(high, low); }
  ap_int_base<W, false> operator()(int high, int low) const { return get_range(high, low); }

  bool and_reduce() const { return (word)value == (word)~(word)0; }
  bool or_reduce() const { return (word)value != 0; }
  bool xor_reduce() const {
    bool odd = false;
    for (int i = 0; i < W; i++) odd ^= get_bit(i);
    return odd;
  }
  ap_int_base reverse() const {
    ap_int_base result = 0;
    for (int i = 0; i < W; i++) result.set_bit(W - 1 - i, get_bit(i));
    return result;
  }

  template <typename T> static ap_int_base of(T raw) {
    ap_int_base made;
    made.value = keep(raw);
    return made;
  }

  ap_int_base<W + 1, true> operator-() const {
    typedef typename rtlagent::bits<W + 1, true>::type wide;
    return ap_int_base<W + 1, true>::of((wide)(0 - (wide)value));
  }
  ap_int_base operator+() const { return *this; }
  ap_int_base operator~() const { return of((type)~value); }
  bool operator!() const { return value == 0; }
  ap_int_base &operator++() { return *this = of((type)(value + 1)); }
  ap_int_base &operator--() { return *this = of((type)(value - 1)); }
  ap_int_base operator++(int) { ap_int_base before = *this; ++*this; return before; }
  ap_int_base operator--(int) { ap_int_base before = *this; --*this; return before; }
  template <typename T> ap_int_base operator<<(const T &by) const { return of(shift_left((long long)by)); }
  template <typename T> ap_int_base operator>>(const T &by) const { return of(shift_right((long long)by)); }
  template <typename T> ap_int_base &operator<<=(const T &by) { return *this = *this << by; }
  template <typename T> ap_int_base &operator>>=(const T &by) { return *this = *this >> by; }
  template <typename T> ap_int_base &operator+=(const T &other) { return *this = ap_int_base(*this + other); }
  template <typename T> ap_int_base &operator-=(const T &other) { return *this = ap_int_base(*this - other); }
  template <typename T> ap_int_base &operator*=(const T &other) { return *this = ap_int_base(*this * other); }
  template <typename T> ap_int_base &operator/=(const T &other) { return *this = ap_int_base(*this / other); }
  template <typename T> ap_int_base &operator%=(const T &other) { return *this = ap_int_base(*this % other); }
  template <typename T> ap_int_base &operator&=(const T &other) { return *this = ap_int_base(*this & other); }
  template <typename T> ap_int_base &operator|=(const T &other) { return *this = ap_int_base(*this | other); }
  template <typename T> ap_int_base &operator^=(const T &other) { return *this = ap_int_base(*this ^ other); }

 private:
  // A shift by the width or more is undefined for _BitInt; here it empties the value. A negative one goes the other way.
  type left(long long by) const { return by >= W ? (type)0 : keep((word)((word)value << (int)by)); }
  type right(long long by) const { return by >= W ? (type)(value < 0 ? -1 : 0) : (type)(value >> (int)by); }
  type shift_left(long long by) const { return by < 0 ? right(-by) : left(by); }
  type shift_right(long long by) const { return by < 0 ? left(-by) : right(by); }
};

#define RTLAGENT_BINARY(OP, WIDTH, SIGN)                                                                        \
  template <int W, bool S, int V, bool T>                                                                       \
  ap_int_base<WIDTH, SIGN> operator OP(const ap_int_base<W, S> &a, const ap_int_base<V, T> &b) {                \
    constexpr int wide = rtlagent::most(WIDTH, rtlagent::common(W, S, V, T)) + 1;                               \
    typedef typename rtlagent::bits<wide, true>::type word;                                                     \
    return ap_int_base<WIDTH, SIGN>::of((word)((word)a.value OP (word)b.value));                                \
  }                                                                                                             \
  template <int W, bool S, typename N, typename = typename rtlagent::only_if<rtlagent::native<N>::width != 0, N>::type> \
  auto operator OP(const ap_int_base<W, S> &a, N b) {                                                           \
    return a OP ap_int_base<rtlagent::native<N>::width, rtlagent::native<N>::is_signed>(b);                     \
  }                                                                                                             \
  template <int W, bool S, typename N, typename = typename rtlagent::only_if<rtlagent::native<N>::width != 0, N>::type> \
  auto operator OP(N a, const ap_int_base<W, S> &b) {                                                           \
    return ap_int_base<rtlagent::native<N>::width, rtlagent::native<N>::is_signed>(a) OP b;                     \
  }
RTLAGENT_BINARY(+, (rtlagent::common(W, S, V, T) + 1), (S || T))
RTLAGENT_BINARY(-, (rtlagent::common(W, S, V, T) + 1), true)
RTLAGENT_BINARY(*, (W + V), (S || T))
RTLAGENT_BINARY(/, (W + (T ? 1 : 0)), (S || T))
RTLAGENT_BINARY(%, (S == T || V > W ? (W < V ? W : V) + (S && !T && V <= W ? 1 : 0) : W), S)
RTLAGENT_BINARY(&, (rtlagent::common(W, S, V, T)), (S || T))
RTLAGENT_BINARY(|, (rtlagent::common(W, S, V, T)), (S || T))
RTLAGENT_BINARY(^, (rtlagent::common(W, S, V, T)), (S || T))
#undef RTLAGENT_BINARY

#define RTLAGENT_COMPARE(OP)                                                                                    \
  template <int W, bool S, int V, bool T>                                                                       \
  bool operator OP(const ap_int_base<W, S> &a, const ap_int_base<V, T> &b) {                                    \
    typedef typename rtlagent::bits<rtlagent::common(W, S, V, T) + 1, true>::type word;                         \
    return (word)a.value OP (word)b.value;                                                                      \
  }                                                                                                             \
  template <int W, bool S, typename N, typename = typename rtlagent::only_if<rtlagent::native<N>::width != 0, N>::type> \
  bool operator OP(const ap_int_base<W, S> &a, N b) {                                                           \
    return a OP ap_int_base<rtlagent::native<N>::width, rtlagent::native<N>::is_signed>(b);                     \
  }                                                                                                             \
  template <int W, bool S, typename N, typename = typename rtlagent::only_if<rtlagent::native<N>::width != 0, N>::type> \
  bool operator OP(N a, const ap_int_base<W, S> &b) {                                                           \
    return ap_int_base<rtlagent::native<N>::width, rtlagent::native<N>::is_signed>(a) OP b;                     \
  }
RTLAGENT_COMPARE(==)
RTLAGENT_COMPARE(!=)
RTLAGENT_COMPARE(<)
RTLAGENT_COMPARE(<=)
RTLAGENT_COMPARE(>)
RTLAGENT_COMPARE(>=)
#undef RTLAGENT_COMPARE

// (a, b): the bits of a above those of b.
template <int W, bool S, int V, bool T>
ap_int_base<W + V, false> operator,(const ap_int_base<W, S> &a, const ap_int_base<V, T> &b) {
  typedef typename rtlagent::bits<W + V, false>::type word;
  return ap_int_base<W + V, false>::of(
      (word)(((word)(typename rtlagent::bits<W, false>::type)a.value << V) | (word)(typename rtlagent::bits<V, false>::type)b.value));
}

template <int W> struct ap_int : ap_int_base<W, true> {
  typedef ap_int_base<W, true> base;
  ap_int() = default;
  ap_int(const ap_int &) = default;
  ap_int &operator=(const ap_int &) = default;
  template <typename T> ap_int(const T &other) : base(other) {}
  template <typename T> ap_int &operator=(const T &other) { base::operator=(base(other)); return *this; }
};

template <int W> struct ap_uint : ap_int_base<W, false> {
  typedef ap_int_base<W, false> base;
  ap_uint() = default;
  ap_uint(const ap_uint &) = default;
  ap_uint &operator=(const ap_uint &) = default;
  template <typename T> ap_uint(const T &other) : base(other) {}
  template <typename T> ap_uint &operator=(const T &other) { base::operator=(base(other)); return *this; }
};

#endif
