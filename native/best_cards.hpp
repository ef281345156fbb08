// BestCards: submissions decided on cards, on boards where the best result counts.
//
// The rule itself is `toprung.domain.entry.decide`, for cards `card_rules.best`, and a test holds this to
// it: a record without its version is ordered like results, smaller is better. What is left out here are
// the rarer parts of a submission (keys, increases that are judged, routes of several kinds): batches with
// any of them are decided in Python.
#pragma once

#include "cards.hpp"

namespace toprung {

class BestCards {
 public:
  BestCards(nb::handle cards, nb::handle tied_value, nb::handle descending, bool last_wins)
      : tied_(static_cast<unsigned>(to_int64(tied_value, "tied"))),
        words_(tied_ + 2),
        width_(kStopBytes + kWordBytes * words_) {
    if (tied_ != 1 && tied_ != 2) throw nb::value_error("tied: 1 or 2");
    const u32 bits = static_cast<u32>(to_int64(descending, "descending"));
    flips_[0] = (bits & 1) != 0 ? ~u64{0} : 0;
    flips_[1] = (bits & 2) != 0 ? ~u64{0} : 0;
    flips_[2] = last_wins ? ~u64{0} : 0;
    for (const nb::handle card : nb::borrow<nb::sequence>(cards)) {
      if (card.is_none()) {
        cards_.emplace_back();
        continue;
      }
      const PlainCard checked(card, words_);
      cards_.push_back({{PyBytes_AS_STRING(card.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(card.ptr()))}, 0});
    }
  }

  // Decides submissions in turn, each on the card of its player, at positions. Returns a status for each
  // (1: an entry changed) and, if `tells`, for each a list of its stops' scores after and before.
  nb::object decide(nb::handle submissions, nb::handle cards_of, nb::handle positions, nb::handle stops,
                    bool tells) {
    const nb::sequence rows = nb::borrow<nb::sequence>(submissions);
    const nb::sequence numbers = nb::borrow<nb::sequence>(positions);
    const std::size_t count = nb::len(rows);
    if (nb::len(numbers) < count) throw nb::value_error("there are fewer positions than submissions");
    std::vector<std::string> begins;
    for (const nb::handle stop : nb::borrow<nb::sequence>(stops)) {
      if (!PyBytes_Check(stop.ptr()) || PyBytes_GET_SIZE(stop.ptr()) != static_cast<Py_ssize_t>(kStopBytes)) {
        throw nb::value_error("a stop is 8 bytes");
      }
      begins.emplace_back(PyBytes_AS_STRING(stop.ptr()), kStopBytes);
    }
    std::string statuses(count, '\0');
    nb::object told = stolen(PyList_New(0));
    for (std::size_t n = 0; n < count; ++n) {
      const nb::object row = rows[n];
      const u64 position = read_version(numbers[n]);
      Held& held = cards_.at(index_of(cards_of, row));
      pack_record(row, position);
      nb::object windows = tells ? stolen(PyList_New(0)) : nb::none();
      for (const std::string& stop : begins) statuses[n] |= static_cast<char>(enter(held, stop, position, windows));
      if (tells && PyList_Append(told.ptr(), windows.ptr()) != 0) throw nb::python_error();
    }
    return to_tuple(stolen(PyBytes_FromStringAndSize(statuses.data(), static_cast<Py_ssize_t>(count))),
                    tells ? std::move(told) : nb::none());
  }

  // Index, version and entries of the cards that were changed.
  nb::object changed() const {
    nb::object found = stolen(PyList_New(0));
    for (std::size_t n = 0; n < cards_.size(); ++n) {
      const Held& held = cards_[n];
      if (held.version == 0) continue;
      const nb::object row = to_tuple(to_int(n), to_int(held.version), to_bytes_object(held.entries));
      if (PyList_Append(found.ptr(), row.ptr()) != 0) throw nb::python_error();
    }
    return found;
  }

  // The numbers of all periods in the cards that were changed.
  nb::object periods() const {
    nb::object found = stolen(PySet_New(nullptr));
    std::vector<std::string_view> known;
    for (const Held& held : cards_) {
      if (held.version == 0) continue;
      for (std::size_t at = 0; at < held.entries.size(); at += width_) {
        const std::string_view period = std::string_view(held.entries).substr(at, kNumberBytes);
        if (std::find(known.begin(), known.end(), period) != known.end()) continue;
        known.push_back(period);
        const nb::object bytes = to_bytes_object(period);
        if (PySet_Add(found.ptr(), bytes.ptr()) != 0) throw nb::python_error();
      }
    }
    return found;
  }

 private:
  struct Held {
    std::string entries;
    u64 version = 0;  // of the last submission that changed it; 0: none did
  };

  static constexpr u64 kSign = u64{1} << 63;

  static nb::object to_bytes_object(std::string_view bytes) {
    return stolen(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
  }

  static std::size_t index_of(nb::handle cards_of, nb::handle row) {
    const nb::object player = row.attr("player");
    PyObject* const found = PyDict_GetItemWithError(cards_of.ptr(), player.ptr());
    if (found == nullptr) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      throw nb::key_error("there is no card of a player");
    }
    return static_cast<std::size_t>(to_int64(found, "card"));
  }

  void put_word(unsigned word, u64 value) noexcept {
    for (unsigned k = 0; k < kWordBytes; ++k) {
      record_[kWordBytes * word + k] = static_cast<char>(value >> (56 - 8 * k));
    }
  }

  void pack_record(nb::handle row, u64 position) {
    put_word(0, (static_cast<u64>(to_int64(row.attr("score"), "score")) + kSign) ^ flips_[0]);
    if (tied_ == 2) {
      const nb::object subscore = row.attr("subscore");
      const i64 value = subscore.is_none() ? 0 : to_int64(subscore, "subscore");
      put_word(1, (static_cast<u64>(value) + kSign) ^ flips_[1]);
    }
    put_word(tied_, (static_cast<u64>(to_int64(row.attr("at"), "at")) + kSign) ^ flips_[2]);
    put_word(tied_ + 1, position);
  }

  i64 score_of(const char* record) const noexcept {
    u64 word = 0;
    for (unsigned k = 0; k < kWordBytes; ++k) word = word << 8 | static_cast<unsigned char>(record[k]);
    return static_cast<i64>((word ^ flips_[0]) - kSign);
  }

  // Whether the record becomes the entry of a stop; an entry keeps its scopes.
  bool enter(Held& held, const std::string& stop, u64 position, nb::handle windows) const {
    std::string& entries = held.entries;
    std::size_t at = entries.size();
    int which = 1;
    while (at != 0 && which > 0) {  // from the end: that is where the present periods are
      which = entries.compare(at - width_, kNumberBytes, stop, 0, kNumberBytes);
      if (which >= 0) at -= width_;
    }
    const std::size_t bytes = kWordBytes * words_;
    const bool is_new = at == entries.size() || entries.compare(at, kNumberBytes, stop, 0, kNumberBytes) != 0;
    nb::object before = nb::none();
    if (!is_new && windows.is_valid() && !windows.is_none()) {
      before = stolen(PyLong_FromLongLong(score_of(entries.data() + at + kStopBytes)));
    }
    bool is_better = is_new;
    if (is_new) {
      entries.insert(at, stop);
      entries.insert(at + kStopBytes, record_, bytes);
    } else if (std::memcmp(record_, entries.data() + at + kStopBytes, bytes - kWordBytes) < 0) {
      is_better = true;
      entries.replace(at + kStopBytes, bytes, record_, bytes);
    }
    if (is_better) held.version = position;
    if (!windows.is_none()) {
      nb::object now = stolen(PyLong_FromLongLong(score_of(entries.data() + at + kStopBytes)));
      const nb::object pair = to_tuple(std::move(now), std::move(before));
      if (PyList_Append(windows.ptr(), pair.ptr()) != 0) throw nb::python_error();
    }
    return is_better;
  }

  unsigned tied_;
  unsigned words_;
  std::size_t width_;
  u64 flips_[3];
  char record_[kWordBytes * 4];
  std::vector<Held> cards_;
};

}  // namespace toprung
