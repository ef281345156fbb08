// Cards: all entries of one player on one board, as the cluster ships them (toprung.domain.card).
//
// A plain card is entries of one width, each of a stop (number of the period, number of the scopes, four
// bytes each) and a record, in the order of periods. Every submission that changes one makes two things
// of it: the members that leave and enter the ladders, and the packed card that the index keeps. Both
// walk over all bytes of the card, which takes Python longer than everything else a submission costs.
#pragma once

#include "python.hpp"

#include <cstring>
#include <string_view>
#include <vector>

namespace toprung {

inline constexpr std::size_t kNumberBytes = 4;
inline constexpr std::size_t kStopBytes = 2 * kNumberBytes;
inline constexpr std::size_t kWordBytes = 8;
inline constexpr std::size_t kColumnsMax = 2 + 3;  // period, scopes, score, subscore, time
inline constexpr unsigned char kPacked = 1;
inline constexpr u64 kVersionMax = (u64{1} << 56) - 1;

// The bytes of a card, entry by entry.
class PlainCard {
 public:
  PlainCard(nb::handle bytes, unsigned words) : width_(kStopBytes + kWordBytes * words) {
    if (!PyBytes_Check(bytes.ptr())) throw nb::type_error("a card is bytes");
    bytes_ = {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
    if (bytes_.size() % width_ != 0) throw nb::value_error("a card is whole entries");
  }

  std::size_t size() const noexcept { return bytes_.size() / width_; }
  std::string_view entry(std::size_t n) const noexcept { return bytes_.substr(n * width_, width_); }

 private:
  std::string_view bytes_;
  std::size_t width_;
};

inline unsigned read_card_words(nb::handle value) {
  const i64 words = to_int64(value, "words");
  if (words != 3 && words != 4) throw nb::value_error("a record on a card has 3 or 4 words");
  return static_cast<unsigned>(words);
}

// A column of a card: how much of its bytes is the same in all entries.
struct Column {
  std::size_t at;
  std::size_t size;
  std::size_t kept;  // bytes at the end in which entries differ

  static Column of(const PlainCard& card, std::size_t at, std::size_t size) noexcept {
    std::size_t same = size;
    for (std::size_t n = 1; n < card.size(); ++n) {
      std::size_t k = 0;
      while (k < same && card.entry(n)[at + k] == card.entry(0)[at + k]) ++k;
      same = k;
    }
    return {at, size, size - same};
  }
};

// The card as the index keeps it; lua/common.lua reads it.
//
//   1 byte   the tag
//   7 bytes  the version of the card
//   1 byte   per two columns, how many bytes of them (4 bits each) differ between entries
//            columns: period, scopes, then the words of the record without its version
//   then the bytes that are the same in all entries, column by column
//   then per entry the bytes in which it differs, column by column
//
// Numbers of periods are near each other, scores are small and times are recent, so a third of a plain
// card is left. Nothing is computed: whoever looks for one entry searches, and puts its bytes together.
inline nb::object pack_card(nb::handle entries, nb::handle words_value, nb::handle version_value) {
  const unsigned words = read_card_words(words_value);
  const PlainCard card(entries, words);
  const i64 version = to_int64(version_value, "version");
  if (version < 0 || static_cast<u64>(version) > kVersionMax) throw nb::value_error("version: 0 to 2**56 - 1");
  std::vector<Column> columns;
  if (card.size() != 0) {
    columns.push_back(Column::of(card, 0, kNumberBytes));
    columns.push_back(Column::of(card, kNumberBytes, kNumberBytes));
    for (unsigned word = 0; word + 1 < words; ++word) {
      columns.push_back(Column::of(card, kStopBytes + kWordBytes * word, kWordBytes));
    }
  }
  std::size_t size = kWordBytes + (columns.size() + 1) / 2;
  for (const Column& column : columns) size += column.size - column.kept + column.kept * card.size();
  nb::object packed = stolen(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  auto* out = reinterpret_cast<unsigned char*>(PyBytes_AS_STRING(packed.ptr()));
  for (unsigned k = 0; k < kWordBytes; ++k) {
    *out++ = static_cast<unsigned char>(static_cast<u64>(version) >> (56 - 8 * k));
  }
  if (columns.empty()) return packed;
  out[-static_cast<std::ptrdiff_t>(kWordBytes)] = kPacked;
  for (std::size_t k = 0; k < columns.size(); k += 2) {
    const std::size_t second = k + 1 < columns.size() ? columns[k + 1].kept : 0;
    *out++ = static_cast<unsigned char>(columns[k].kept << 4 | second);
  }
  const auto copy = [&out](std::string_view bytes) {
    std::memcpy(out, bytes.data(), bytes.size());
    out += bytes.size();
  };
  for (const Column& column : columns) copy(card.entry(0).substr(column.at, column.size - column.kept));
  for (std::size_t n = 0; n < card.size(); ++n) {
    for (const Column& column : columns) {
      copy(card.entry(n).substr(column.at + column.size - column.kept, column.kept));
    }
  }
  return packed;
}

// Notes in `moves` what a new card takes off ladders and puts onto them: stop -> (members that leave,
// members that enter). A stop of which only the record changes is there with neither.
class Moves {
 public:
  Moves(nb::handle moves, std::string_view id, std::size_t key_bytes)
      : moves_(moves), id_(id), key_bytes_(key_bytes) {
    if (!PyDict_Check(moves.ptr())) throw nb::type_error("moves are a dict");
  }

  void leave(std::string_view entry) { append(entry, 0); }
  void enter(std::string_view entry) { append(entry, 1); }
  void touch(std::string_view entry) { lists_of(entry); }
  bool is_same_place(std::string_view one, std::string_view other) const noexcept {
    return one.substr(0, kStopBytes + key_bytes_) == other.substr(0, kStopBytes + key_bytes_);
  }
  i64 members() const noexcept { return members_; }

 private:
  void append(std::string_view entry, Py_ssize_t which) {
    member_.assign(entry.substr(kStopBytes, key_bytes_));
    member_.append(id_);
    const nb::object member =
        stolen(PyBytes_FromStringAndSize(member_.data(), static_cast<Py_ssize_t>(member_.size())));
    const nb::handle lists = lists_of(entry);
    if (PyList_Append(PyTuple_GET_ITEM(lists.ptr(), which), member.ptr()) != 0) throw nb::python_error();
    ++members_;
  }

  nb::handle lists_of(std::string_view entry) {
    const nb::object stop = stolen(PyBytes_FromStringAndSize(entry.data(), kStopBytes));
    PyObject* found = PyDict_GetItemWithError(moves_.ptr(), stop.ptr());
    if (found == nullptr) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      const nb::object lists = to_tuple(stolen(PyList_New(0)), stolen(PyList_New(0)));
      if (PyDict_SetItem(moves_.ptr(), stop.ptr(), lists.ptr()) != 0) throw nb::python_error();
      return lists;  // the dict has it
    }
    return found;
  }

  nb::handle moves_;
  std::string_view id_;
  std::size_t key_bytes_;
  std::string member_;
  i64 members_ = 0;
};

inline i64 move_card(nb::handle moves_dict, nb::handle id, nb::handle before_bytes, nb::handle after_bytes,
                     nb::handle words_value, nb::handle order_value) {
  const unsigned words = read_card_words(words_value);
  const i64 order = to_int64(order_value, "order");
  if (order < 1 || order >= words) throw nb::value_error("order: 1 to words - 1");
  if (!PyBytes_Check(id.ptr())) throw nb::type_error("an id is bytes");
  const std::string_view id_bytes{PyBytes_AS_STRING(id.ptr()),
                                  static_cast<std::size_t>(PyBytes_GET_SIZE(id.ptr()))};
  const PlainCard before(before_bytes, words);
  const PlainCard after(after_bytes, words);
  Moves moves(moves_dict, id_bytes, kWordBytes * static_cast<std::size_t>(order));
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.size() || j < after.size()) {
    int which = i == before.size() ? 1 : j == after.size() ? -1 : 0;
    if (which == 0) {
      which = before.entry(i).substr(0, kNumberBytes).compare(after.entry(j).substr(0, kNumberBytes));
    }
    if (which < 0) {
      moves.leave(before.entry(i++));
    } else if (which > 0) {
      moves.enter(after.entry(j++));
    } else {
      const std::string_view old_entry = before.entry(i++);
      const std::string_view new_entry = after.entry(j++);
      if (old_entry == new_entry) continue;
      if (moves.is_same_place(old_entry, new_entry)) {
        moves.touch(new_entry);
      } else {
        moves.leave(old_entry);
        moves.enter(new_entry);
      }
    }
  }
  return moves.members();
}

}  // namespace toprung
