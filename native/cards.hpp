// Cards: all entries of one player on one board, as the cluster ships them (toprung.domain.card).
//
// A plain card is entries of one width, each of a stop (number of the period, number of the scopes, four
// bytes each) and a record, in the order of periods. Every submission that changes one makes two things
// of it: the members that leave and enter the ladders, and the packed card that the index keeps. Both
// walk over all bytes of the card, which takes Python longer than all else that a submission costs.
#pragma once

#include "python.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace toprung {

inline constexpr std::size_t kNumberBytes = 4;
inline constexpr std::size_t kStopBytes = 2 * kNumberBytes;
inline constexpr std::size_t kWordBytes = 8;
inline constexpr std::size_t kColumnsMax = 2 + 3;  // period, scopes, score, subscore, time
inline constexpr unsigned char kPacked = 1;
inline constexpr std::size_t kPackedBytesMax = 32'768;  // a script would be held up by unpacking more
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
  std::size_t nbytes() const noexcept { return bytes_.size(); }
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

inline u64 read_version(nb::handle value) {
  const i64 version = to_int64(value, "version");
  if (version < 0 || static_cast<u64>(version) > kVersionMax) throw nb::value_error("version: 0 to 2**56 - 1");
  return static_cast<u64>(version);
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
// A card that is very long, or empty, is kept as a plain one: its version in eight bytes, then its entries.
inline nb::object pack_card(nb::handle entries, nb::handle words_value, nb::handle version_value) {
  const unsigned words = read_card_words(words_value);
  const PlainCard card(entries, words);
  const u64 version = read_version(version_value);
  std::vector<Column> columns;
  if (card.size() != 0 && card.nbytes() <= kPackedBytesMax) {
    columns.push_back(Column::of(card, 0, kNumberBytes));
    columns.push_back(Column::of(card, kNumberBytes, kNumberBytes));
    for (unsigned word = 0; word + 1 < words; ++word) {
      columns.push_back(Column::of(card, kStopBytes + kWordBytes * word, kWordBytes));
    }
  }
  std::size_t size = kWordBytes + (columns.size() + 1) / 2;
  for (const Column& column : columns) size += column.size - column.kept + column.kept * card.size();
  if (columns.empty()) size += card.nbytes();
  nb::object packed = stolen(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  auto* out = reinterpret_cast<unsigned char*>(PyBytes_AS_STRING(packed.ptr()));
  for (unsigned k = 0; k < kWordBytes; ++k) {
    *out++ = static_cast<unsigned char>(version >> (56 - 8 * k));
  }
  if (columns.empty()) {
    std::memcpy(out, PyBytes_AS_STRING(entries.ptr()), card.nbytes());
    return packed;
  }
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

// Appends a length of two bytes and bytes: what scripts cut texts from.
inline void append_text(std::string& blob, std::string_view text) {
  if (text.size() > 0xFFFF) throw nb::value_error("a text has at most 65,535 bytes");
  blob.push_back(static_cast<char>(text.size() >> 8));
  blob.push_back(static_cast<char>(text.size() & 0xFF));
  blob.append(text);
}

inline void append_number(std::string& blob, u64 number, unsigned bytes) {
  for (unsigned k = bytes; k-- > 0;) blob.push_back(static_cast<char>(number >> (8 * k)));
}

// What new cards take off ladders and put onto them, stop by stop, and the cards themselves: the arguments
// of a script, as few texts however many members there are, because each argument costs both sides.
class CardMoves {
 public:
  CardMoves(nb::handle words, nb::handle order, bool packs)
      : words_(read_card_words(words)), packs_(packs) {
    const i64 key_words = to_int64(order, "order");
    if (key_words < 1 || key_words >= words_) throw nb::value_error("order: 1 to words - 1");
    key_bytes_ = kWordBytes * static_cast<std::size_t>(key_words);
  }

  // How many members leave and enter, and how many stops are new here; if both together, stops counted
  // twice, are more than `most`, nothing is added.
  nb::object add(nb::handle id, nb::handle version_value, nb::handle entries, nb::handle since_value,
                 nb::handle before_entries, nb::handle most_value) {
    const std::string_view player = read_text(id);
    const u64 version = read_version(version_value);
    const u64 since = read_version(since_value);
    const PlainCard before(before_entries, words_);
    const PlainCard after(entries, words_);
    i64 members = 0;
    std::vector<std::string_view> unknown;
    walk(before, after, [&](std::string_view entry, Way way) {
      const std::string_view stop = entry.substr(0, kStopBytes);
      members += way != Way::touch;
      if (find(stop) == nullptr && std::find(unknown.begin(), unknown.end(), stop) == unknown.end()) {
        unknown.push_back(stop);
      }
    });
    const auto stops = static_cast<i64>(unknown.size());
    const bool fits = members + 2 * stops <= to_int64(most_value, "most");
    if (fits) {
      walk(before, after, [&](std::string_view entry, Way way) { note(entry, way, player, version); });
      append_card(player, version, entries, since);
    }
    return to_tuple(nb::bool_(fits), to_int(static_cast<u64>(members)), to_int(static_cast<u64>(stops)));
  }

  // Asks for the places of a player in some periods, by the first words of its entries, or by its members.
  void ask(nb::handle id, nb::handle periods, nb::handle before_entries, nb::handle after_entries,
           nb::handle words_counted, bool by_member) {
    const std::string_view player = read_text(id);
    const PlainCard before(before_entries, words_);
    const PlainCard after(after_entries, words_);
    const i64 counted = to_int64(words_counted, "counted");
    if (counted < 1 || counted >= words_) throw nb::value_error("counted: 1 to words - 1");
    const std::size_t bytes = kWordBytes * static_cast<std::size_t>(counted);
    for (const nb::handle period : nb::borrow<nb::sequence>(periods)) {
      if (!PyBytes_Check(period.ptr()) || PyBytes_GET_SIZE(period.ptr()) != static_cast<Py_ssize_t>(kNumberBytes)) {
        throw nb::value_error("the number of a period is 4 bytes");
      }
      const std::string_view number{PyBytes_AS_STRING(period.ptr()), kNumberBytes};
      places_.append(number);
      for (const PlainCard* card : {&before, &after}) {
        member_.clear();
        for (std::size_t n = card->size(); n-- > 0;) {  // from the end: that is where present periods are
          if (card->entry(n).substr(0, kNumberBytes) != number) continue;
          member_.assign(card->entry(n).substr(kStopBytes, bytes));
          if (by_member) member_.append(player);
          break;
        }
        append_text(places_, member_);
      }
    }
  }

  // Cards, places, then stop, greatest version, members that leave and members that enter of each.
  nb::object arguments() const {
    nb::object found = stolen(PyList_New(0));
    const auto append = [&found](const std::string& text) {
      const nb::object bytes = stolen(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
      if (PyList_Append(found.ptr(), bytes.ptr()) != 0) throw nb::python_error();
    };
    append(cards_);
    append(places_);
    for (const Stop& stop : stops_) {
      append(stop.name);
      append(std::to_string(stop.version));
      append(stop.leave);
      append(stop.enter);
    }
    return found;
  }

  std::size_t nbytes() const noexcept { return cards_.size(); }

 private:
  enum class Way { leave, enter, touch };
  struct Stop {
    std::string name;
    u64 version;
    std::string leave;
    std::string enter;
  };

  static std::string_view read_text(nb::handle value) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
    if (text == nullptr) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      throw nb::type_error("an id is a str");
    }
    return {text, static_cast<std::size_t>(size)};
  }

  template <class Visit>
  void walk(const PlainCard& before, const PlainCard& after, Visit visit) const {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < before.size() || j < after.size()) {
      int which = i == before.size() ? 1 : j == after.size() ? -1 : 0;
      if (which == 0) {
        which = before.entry(i).substr(0, kNumberBytes).compare(after.entry(j).substr(0, kNumberBytes));
      }
      if (which < 0) {
        visit(before.entry(i++), Way::leave);
      } else if (which > 0) {
        visit(after.entry(j++), Way::enter);
      } else {
        const std::string_view old_entry = before.entry(i++);
        const std::string_view new_entry = after.entry(j++);
        if (old_entry == new_entry) continue;
        const std::size_t place = kStopBytes + key_bytes_;
        if (old_entry.substr(0, place) == new_entry.substr(0, place)) {
          visit(new_entry, Way::touch);
        } else {
          visit(old_entry, Way::leave);
          visit(new_entry, Way::enter);
        }
      }
    }
  }

  Stop* find(std::string_view name) noexcept {
    for (Stop& stop : stops_) {
      if (stop.name == name) return &stop;
    }
    return nullptr;
  }

  void note(std::string_view entry, Way way, std::string_view player, u64 version) {
    const std::string_view name = entry.substr(0, kStopBytes);
    Stop* stop = find(name);
    if (stop == nullptr) stop = &stops_.emplace_back(Stop{std::string(name), 0, {}, {}});
    stop->version = std::max(stop->version, version);
    if (way == Way::touch) return;
    member_.assign(entry.substr(kStopBytes, key_bytes_));
    member_.append(player);
    append_text(way == Way::leave ? stop->leave : stop->enter, member_);
  }

  // Player, version that is replaced (8 bytes), bytes of the card (4 bytes), card.
  void append_card(std::string_view player, u64 version, nb::handle entries, u64 since) {
    append_text(cards_, player);
    append_number(cards_, since, kWordBytes);
    nb::object packed;
    if (packs_) {
      packed = pack_card(entries, nb::int_(words_), nb::int_(version));
      const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(packed.ptr()));
      append_number(cards_, size, 4);
      cards_.append(PyBytes_AS_STRING(packed.ptr()), size);
      return;
    }
    const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(entries.ptr()));
    append_number(cards_, size + kWordBytes, 4);
    append_number(cards_, version, kWordBytes);
    cards_.append(PyBytes_AS_STRING(entries.ptr()), size);
  }

  unsigned words_;
  bool packs_;
  std::size_t key_bytes_ = 0;
  std::string cards_;
  std::string places_;
  std::string member_;
  std::vector<Stop> stops_;  // few: searched one after the other
};

}  // namespace toprung
