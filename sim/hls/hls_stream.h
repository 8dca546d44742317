// FIFO channels for C++ kernels: hls::stream<T>, with the names that HLS users know.
//
// In hardware an argument of the top function becomes a FIFO port, and a stream inside it a queue in memory. In a native
// program it is a queue without a limit that tells the recorder of calls, where one is linked, each item.
#ifndef RTLAGENT_HLS_STREAM_H
#define RTLAGENT_HLS_STREAM_H

#ifdef __SYNTHESIS__

extern "C" {
// The engine gives these their meaning; an item of more than eight bytes goes in parts, the first one first.
void rtlagent_stream_open(const void *stream, unsigned long bytes, unsigned long depth);
unsigned long long rtlagent_stream_read(const void *stream, unsigned long bytes, unsigned long depth, int part);
void rtlagent_stream_write(const void *stream, unsigned long bytes, unsigned long depth, int part,
                           unsigned long long word);
bool rtlagent_stream_empty(const void *stream, unsigned long bytes, unsigned long depth);
bool rtlagent_stream_full(const void *stream, unsigned long bytes, unsigned long depth);
unsigned rtlagent_stream_size(const void *stream, unsigned long bytes, unsigned long depth);
}

namespace hls {

template <typename T, int DEPTH = 0> class stream {
  char rtlagent_handle;
  static constexpr int parts = (sizeof(T) + 7) / 8;

  template <int K> void take(unsigned long long *words) {
    words[K] = rtlagent_stream_read(this, sizeof(T), DEPTH, K);
    if constexpr (K + 1 < parts) take<K + 1>(words);
  }
  template <int K> void give(const unsigned long long *words) {
    rtlagent_stream_write(this, sizeof(T), DEPTH, K, words[K]);
    if constexpr (K + 1 < parts) give<K + 1>(words);
  }

 public:
  stream() { rtlagent_stream_open(this, sizeof(T), DEPTH); }
  explicit stream(const char *) { rtlagent_stream_open(this, sizeof(T), DEPTH); }
  stream(const stream &) = delete;
  stream &operator=(const stream &) = delete;

  bool empty() const { return rtlagent_stream_empty(this, sizeof(T), DEPTH); }
  bool full() const { return rtlagent_stream_full(this, sizeof(T), DEPTH); }
  unsigned size() const { return rtlagent_stream_size(this, sizeof(T), DEPTH); }

  T read() {
    unsigned long long words[parts];
    take<0>(words);
    T item;
    __builtin_memcpy(&item, words, sizeof item);
    return item;
  }
  void write(const T &item) {
    unsigned long long words[parts] = {};
    __builtin_memcpy(words, &item, sizeof item);
    give<0>(words);
  }
#else

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>

extern "C" void rtlagent_stream(const void *stream, int is_write, const void *item, std::size_t size)
    __attribute__((weak));

namespace hls {

template <typename T, int DEPTH = 0> class stream {
  std::deque<T> items;

 public:
  stream() {}
  explicit stream(const char *) {}
  stream(const stream &) = delete;
  stream &operator=(const stream &) = delete;

  bool empty() const { return items.empty(); }
  bool full() const { return false; }
  unsigned size() const { return (unsigned)items.size(); }

  T read() {
    if (items.empty()) {
      std::fputs("hls::stream: read while it is empty\n", stderr);
      std::abort();
    }
    T item = items.front();
    items.pop_front();
    if (rtlagent_stream) rtlagent_stream(this, 0, &item, sizeof item);
    return item;
  }
  void write(const T &item) {
    if (rtlagent_stream) rtlagent_stream(this, 1, &item, sizeof item);
    items.push_back(item);
  }
#endif

  void read(T &item) { item = read(); }
  bool read_nb(T &item) {
    if (empty()) return false;
    item = read();
    return true;
  }
  bool write_nb(const T &item) {
    if (full()) return false;
    write(item);
    return true;
  }
  stream &operator>>(T &item) {
    item = read();
    return *this;
  }
  stream &operator<<(const T &item) {
    write(item);
    return *this;
  }
};

}  // namespace hls

#endif
