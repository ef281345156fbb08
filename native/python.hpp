// Between Python's objects and the core's plain data: arguments in, results out, locks around.
//
// The core is called in three steps: read the arguments (with the GIL), do the work (under the gate,
// with or without the GIL, touching no Python object), make the results (with the GIL, without the
// gate). Nobody takes the GIL with the gate held; whoever finds the gate closed gives up the GIL before
// waiting for it.
#pragma once

#include <nanobind/nanobind.h>

#include "ranked_set.hpp"
#include "words.hpp"

namespace toprung {

namespace nb = nanobind;

// ---- locks ---------------------------------------------------------------------------------------

// One look: most of the time nobody is in the way and giving up the GIL would cost more than it.
template <class Work>
auto reading(Gate& gate, Work work) {
  if (gate.state.try_lock()) {
    const std::lock_guard held(gate.state, std::adopt_lock);
    return work();
  }
  const nb::gil_scoped_release released;
  const std::lock_guard held(gate.state);
  return work();
}

template <class Work>
auto writing(Gate& gate, Work work) {
  if (gate.writers.try_lock()) {
    const std::lock_guard alone(gate.writers, std::adopt_lock);
    if (gate.state.try_lock()) {
      const std::lock_guard held(gate.state, std::adopt_lock);
      return work();
    }
  }
  const nb::gil_scoped_release released;
  const std::lock_guard alone(gate.writers);
  const std::lock_guard held(gate.state);
  return work();
}

// Long work: other Python threads run meanwhile.
template <class Work>
auto reading_long(Gate& gate, Work work) {
  const nb::gil_scoped_release released;
  const std::lock_guard held(gate.state);
  return work();
}

template <class Work>
auto writing_long(Gate& gate, Work work) {
  const nb::gil_scoped_release released;
  const std::lock_guard alone(gate.writers);
  const std::lock_guard held(gate.state);
  return work();
}

// Looks while nothing changes, even if the look is long: then it does not hold the GIL, and lets other
// readers through whenever it calls what it is given.
template <class Work>
auto unchanging(Gate& gate, bool is_short, Work work) {
  if (is_short) return reading(gate, [&] { return work([] {}); });
  return writing_long(gate, [&] { return work([&] { gate.state.give_way(); }); });
}

// A dump, written into its bytes object without the GIL: at ten million entries the copy alone would
// hold up every other thread for a second. Nothing changes while it is made; readers are let through.
template <class Source>
nb::object make_dump(Gate& gate, const Source& source) {
  for (;;) {
    const std::size_t size = reading_long(gate, [&] { return source.dump_bytes(); });
    nb::object dump = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!dump.is_valid()) throw nb::python_error();
    u8* const out = reinterpret_cast<u8*>(PyBytes_AS_STRING(dump.ptr()));
    const bool fits = writing_long(gate, [&] {
      if (source.dump_bytes() != size) return false;  // it changed meanwhile
      source.write_dump(out, size, [&] { gate.state.give_way(); });
      return true;
    });
    if (!fits) continue;
    {
      const nb::gil_scoped_release released;
      seal_dump(out, size);
    }
    return dump;
  }
}

// ---- numbers and bytes ---------------------------------------------------------------------------

inline nb::object stolen(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

inline nb::object to_bytes(const void* data, std::size_t length) {
  return stolen(PyBytes_FromStringAndSize(static_cast<const char*>(data),
                                          static_cast<Py_ssize_t>(length)));
}
template <class T>
nb::object to_bytes(const Vector<T>& values) {
  return to_bytes(values.data(), values.size() * sizeof(T));
}

inline nb::object to_int(u64 value) { return stolen(PyLong_FromUnsignedLongLong(value)); }

inline nb::object to_record(const u64* words, unsigned count) {
  u8 bytes[8 * kWordsMax];
  write_words(words, count, bytes);
  return to_bytes(bytes, std::size_t{count} * 8);
}

template <class... Items>
nb::object to_tuple(Items&&... items) {
  nb::object tuple = stolen(PyTuple_New(sizeof...(Items)));
  Py_ssize_t i = 0;
  (PyTuple_SET_ITEM(tuple.ptr(), i++, items.release().ptr()), ...);
  return tuple;
}

inline void refuse_type(const char* what, nb::handle value) {
  PyErr_Format(PyExc_TypeError, "%s, not %.100s", what, Py_TYPE(value.ptr())->tp_name);
  throw nb::python_error();
}

inline i64 to_int64(nb::handle value, const char* name) {
  if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) {
    PyErr_Format(PyExc_TypeError, "%s must be an int, not %.100s", name, Py_TYPE(value.ptr())->tp_name);
    throw nb::python_error();
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0) {
    PyErr_Format(PyExc_OverflowError, "%s does not fit 64 bits", name);
    throw nb::python_error();
  }
  return number;
}

inline u64 to_count(nb::handle value, const char* name) {
  const i64 count = to_int64(value, name);
  if (count < 0) {
    PyErr_Format(PyExc_ValueError, "%s must not be negative", name);
    throw nb::python_error();
  }
  return static_cast<u64>(count);
}

inline IdView bytes_view(nb::handle value, const char* name) {
  if (!PyBytes_Check(value.ptr())) {
    PyErr_Format(PyExc_TypeError, "%s must be bytes, not %.100s", name, Py_TYPE(value.ptr())->tp_name);
    throw nb::python_error();
  }
  const Py_ssize_t length = PyBytes_GET_SIZE(value.ptr());
  if (length > Py_ssize_t{1} << 16) throw nb::value_error("too many bytes");
  return {reinterpret_cast<const u8*>(PyBytes_AS_STRING(value.ptr())), static_cast<u32>(length)};
}

// A whole record.
inline void read_record(nb::handle value, const Shape& shape, u64* words) {
  const IdView bytes = bytes_view(value, "record");
  if (bytes.length != shape.words * 8) {
    PyErr_Format(PyExc_ValueError, "a record of this set has %u bytes, not %u", shape.words * 8,
                 bytes.length);
    throw nb::python_error();
  }
  for (unsigned w = 0; w < shape.words; ++w) words[w] = big_endian_word(bytes.bytes + w * 8);
}

// Some first words of a key; those left out are zero.
inline void read_key(nb::handle value, const Shape& shape, u64* words) {
  const IdView bytes = bytes_view(value, "key");
  const u32 most = shape.order * 8;
  if (bytes.length == 0 || bytes.length % 8 != 0 || bytes.length > most) {
    PyErr_Format(PyExc_ValueError, "a key of this set has 8 to %u bytes in steps of 8, not %u", most,
                 bytes.length);
    throw nb::python_error();
  }
  std::fill(words, words + kWordsMax, 0);
  for (u32 w = 0; w < bytes.length / 8; ++w) words[w] = big_endian_word(bytes.bytes + w * 8);
}

// An id to compare with: it may be one byte longer than an id, as the place just after one.
inline IdView read_probe_id(nb::handle value) {
  const IdView id = bytes_view(value, "id");
  if (id.length > kIdBytesMax + 1) throw nb::value_error("an id has at most 256 bytes");
  return id;
}

// ---- players -------------------------------------------------------------------------------------

// A player as the caller named it. length 0: `at` is a number (kNone when it cannot be one).
struct PlayerArg {
  const u8* bytes = nullptr;
  u32 length = 0;
  u32 number = kNone;
  u32 tag = 0;

  u32 resolve(const PlayerTable& table) const noexcept {
    return length == 0 ? number : table.find({bytes, length}, tag);
  }
};

inline bool read_id(nb::handle value, IdView& id) {
  const char* bytes = nullptr;
  Py_ssize_t length = 0;
  if (PyUnicode_Check(value.ptr())) {
    bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &length);
    if (bytes == nullptr) throw nb::python_error();
  } else if (PyBytes_Check(value.ptr())) {
    bytes = PyBytes_AS_STRING(value.ptr());
    length = PyBytes_GET_SIZE(value.ptr());
  } else {
    return false;
  }
  if (length == 0) throw nb::value_error("a player id must not be empty");
  if (length > static_cast<Py_ssize_t>(kIdBytesMax)) {
    throw nb::value_error("a player id has at most 256 bytes");
  }
  id = {reinterpret_cast<const u8*>(bytes), static_cast<u32>(length)};
  return true;
}

inline PlayerArg read_player_id(const PlayerTable& table, nb::handle value) {
  IdView id;
  if (!read_id(value, id)) refuse_type("a player id is str or bytes", value);
  return {id.bytes, id.length, kNone, table.tag_of(id)};
}

inline PlayerArg read_player(const PlayerTable& table, nb::handle value) {
  IdView id;
  if (read_id(value, id)) return {id.bytes, id.length, kNone, table.tag_of(id)};
  if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) {
    refuse_type("a player is an int number or a str or bytes id", value);
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  const bool possible = overflow == 0 && number >= 0 && number < i64{kNone};
  return {nullptr, 0, possible ? static_cast<u32>(number) : kNone, 0};
}

// Players of a batch with their ids copied: the list may change once the GIL is gone.
class PlayerBatch {
 public:
  PlayerBatch(const PlayerTable& table, nb::handle sequence, bool ids_only) {
    if (PyUnicode_Check(sequence.ptr())) refuse_type("players come in a list or tuple", sequence);
    const nb::object items = stolen(
        PySequence_Fast(sequence.ptr(), "players come in a list or tuple"));
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
    items_.reserve(static_cast<std::size_t>(count));
    bytes_.reserve(static_cast<std::size_t>(count) * 16);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
      const nb::handle item = PySequence_Fast_GET_ITEM(items.ptr(), i);
      const PlayerArg player = ids_only ? read_player_id(table, item) : read_player(table, item);
      if (player.length == 0) {
        items_.push_back({player.number, 0, 0});
      } else {
        items_.push_back({bytes_.size(), player.tag, player.length});
        bytes_.insert(bytes_.end(), player.bytes, player.bytes + player.length);
      }
    }
  }

  std::size_t size() const noexcept { return items_.size(); }

  // Numbers of all players; kNone for those the table does not have.
  void resolve(const PlayerTable& table, u32* numbers) const noexcept {
    for (std::size_t done = 0; done < items_.size(); done += kBlock) {
      const std::size_t block = std::min(kBlock, items_.size() - done);
      const Item* item = &items_[done];
      u32* number = numbers + done;
      for (std::size_t i = 0; i < block; ++i) {
        if (item[i].length != 0) table.prefetch_slot(item[i].tag);
      }
      for (std::size_t i = 0; i < block; ++i) {
        if (item[i].length == 0) continue;
        number[i] = table.guess(item[i].tag);
        if (number[i] != kNone) table.prefetch_group(number[i]);
      }
      for (std::size_t i = 0; i < block; ++i) {
        if (item[i].length != 0 && number[i] != kNone) table.prefetch_id(number[i]);
      }
      for (std::size_t i = 0; i < block; ++i) {
        number[i] = item[i].length == 0 ? static_cast<u32>(item[i].at)
                                        : table.find(view(item[i]), item[i].tag);
      }
    }
  }

  // Gives every id its number; takes back those it gave when it cannot finish.
  void intern(PlayerTable& table, u32* numbers) const {
    const u32 limit = table.limit();
    try {
      for (std::size_t done = 0; done < items_.size(); done += kBlock) {
        const std::size_t block = std::min(kBlock, items_.size() - done);
        for (std::size_t i = 0; i < block; ++i) table.prefetch_slot(items_[done + i].tag);
        for (std::size_t i = 0; i < block; ++i) {
          const Item& item = items_[done + i];
          numbers[done + i] = table.intern(view(item), item.tag);
        }
        table.gate.state.give_way();
      }
    } catch (...) {
      table.truncate(limit);
      throw;
    }
  }

 private:
  static constexpr std::size_t kBlock = 32;
  struct Item {
    u64 at;
    u32 tag;
    u32 length;
  };
  IdView view(const Item& item) const noexcept { return {bytes_.data() + item.at, item.length}; }

  Vector<Item> items_;
  Vector<u8> bytes_;
};

// ---- buffers -------------------------------------------------------------------------------------

class PinnedBuffer {
 public:
  PinnedBuffer(nb::handle object, const char* name) {
    if (!PyObject_CheckBuffer(object.ptr())) {
      PyErr_Format(PyExc_TypeError, "%s must be a buffer, not %.100s", name,
                   Py_TYPE(object.ptr())->tp_name);
      throw nb::python_error();
    }
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      throw nb::python_error();
    }
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() { PyBuffer_Release(&view_); }

  const u8* data() const noexcept { return static_cast<const u8*>(view_.buf); }
  std::size_t length() const noexcept { return static_cast<std::size_t>(view_.len); }

  // Refuses what is neither raw bytes nor items of the wanted kind ("IL" or "ql").
  template <class T>
  void require_items(const char* name, const char* kinds) const {
    const char* format = view_.format == nullptr ? "B" : view_.format;
    if (format[0] == '@' || format[0] == '=' || format[0] == '<') ++format;
    const bool raw = view_.itemsize == 1;
    const bool typed = view_.itemsize == sizeof(T) && format[0] != 0 && format[1] == 0 &&
                       std::strchr(kinds, format[0]) != nullptr;
    if (!raw && !typed) {
      PyErr_Format(PyExc_TypeError, "%s must hold packed %s, not items of format '%s'", name,
                   sizeof(T) == 4 ? "unsigned 32-bit numbers" : "signed 64-bit numbers", format);
      throw nb::python_error();
    }
    if (length() % sizeof(T) != 0) {
      PyErr_Format(PyExc_ValueError, "%s must be a multiple of %zu bytes long", name, sizeof(T));
      throw nb::python_error();
    }
  }

  // Copies out a buffer of such items.
  template <class T>
  Vector<T> copy(const char* name, const char* kinds) const {
    require_items<T>(name, kinds);
    Vector<T> values(length() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), data(), length());
    return values;
  }

 private:
  Py_buffer view_;
};

inline Vector<u32> read_numbers(nb::handle object, const char* name = "numbers") {
  return PinnedBuffer(object, name).copy<u32>(name, "IL");
}

inline Vector<u64> read_records(nb::handle object, const Shape& shape, std::size_t count) {
  const PinnedBuffer buffer(object, "records");
  const std::size_t words = shape.words;
  if (buffer.length() % (words * 8) != 0 || buffer.length() / (words * 8) != count) {
    throw nb::value_error("records must hold one record for each number");
  }
  Vector<u64> records(count * words);
  for (std::size_t i = 0; i < records.size(); ++i) records[i] = big_endian_word(buffer.data() + i * 8);
  return records;
}

// Bytes to read without the GIL: as they are when nobody can change them, else a copy.
class StillBytes {
 public:
  StillBytes(nb::handle object, const char* name) : buffer_(object, name) {
    if (PyBytes_CheckExact(object.ptr())) return;
    copy_.assign(buffer_.data(), buffer_.data() + buffer_.length());
    copied_ = true;
  }
  const u8* data() const noexcept { return copied_ ? copy_.data() : buffer_.data(); }
  std::size_t length() const noexcept { return buffer_.length(); }

 protected:
  PinnedBuffer buffer_;

 private:
  Vector<u8> copy_;
  bool copied_ = false;
};

// Packed signed 64-bit numbers.
class ColumnArg : public StillBytes {
 public:
  ColumnArg(nb::handle object, const char* name) : StillBytes(object, name) {
    buffer_.require_items<i64>(name, "ql");
  }
  std::size_t size() const noexcept { return length() / sizeof(i64); }
};

// Whole records of so many bytes each.
class RecordsArg : public StillBytes {
 public:
  RecordsArg(nb::handle object, std::size_t record_bytes)
      : StillBytes(object, "records"), record_bytes_(record_bytes) {
    if (length() % record_bytes == 0) return;
    PyErr_Format(PyExc_ValueError, "records must be a multiple of %zu bytes long", record_bytes);
    throw nb::python_error();
  }
  std::size_t size() const noexcept { return length() / record_bytes_; }

 private:
  std::size_t record_bytes_;
};

// A bytes object that is filled after it was made, with or without the GIL: nobody else has it yet.
class BytesOut {
 public:
  explicit BytesOut(std::size_t length) : object_(to_bytes(nullptr, length)) {}
  u8* data() const noexcept { return reinterpret_cast<u8*>(PyBytes_AS_STRING(object_.ptr())); }
  nb::object take() noexcept { return std::move(object_); }

 private:
  nb::object object_;
};

// Rows in columns are copied in nanoseconds each: below this many it is over before giving up the GIL
// would have paid, even where a program's other threads are busy.
inline constexpr std::size_t kShortColumns = 8192;

template <class Work>
void over_rows(std::size_t rows, Work work) {
  if (rows <= kShortColumns) return work();
  const nb::gil_scoped_release released;
  work();
}

}  // namespace toprung
