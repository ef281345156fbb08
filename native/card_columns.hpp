// CardColumns: entries of many cards, gathered by the stops that they are at.
//
// Whoever reads a whole period of a cluster goes through all cards of a board. Cutting them up takes Python
// microseconds per entry, during which nobody else is served; here it takes nanoseconds. A column grows in
// blocks, so that adding to a long one never moves what is there.
#pragma once

#include "cards.hpp"
#include "hash.hpp"

#include <unordered_map>
#include <unordered_set>

namespace toprung {

// The periods that are on some cards, by number.
inline nb::object card_periods(nb::handle cards, nb::handle words_value) {
  const unsigned words = read_card_words(words_value);
  nb::object found = stolen(PySet_New(nullptr));
  std::unordered_set<u64> known;
  for (const nb::handle each : nb::borrow<nb::sequence>(cards)) {
    const PlainCard card(each, words);
    for (std::size_t n = 0; n < card.size(); ++n) {
      const std::string_view period = card.entry(n).substr(0, kNumberBytes);
      if (!known.insert(read32(reinterpret_cast<const u8*>(period.data()))).second) continue;
      const nb::object bytes = stolen(PyBytes_FromStringAndSize(period.data(), kNumberBytes));
      if (PySet_Add(found.ptr(), bytes.ptr()) != 0) throw nb::python_error();
    }
  }
  return found;
}

// Bytes that are only appended to, in blocks.
class BlockColumn {
 public:
  void append(const char* bytes, std::size_t size) {
    if (blocks_.empty() || blocks_.back().size() + size > blocks_.back().capacity()) {
      const std::size_t wanted = std::clamp(2 * size_, kBlockMin, kBlockMax);
      std::string block;
      block.reserve(std::max(wanted, size));
      blocks_.push_back(std::move(block));
    }
    blocks_.back().append(bytes, size);
    size_ += size;
  }

  std::size_t size() const noexcept { return size_; }

  u8* copy_to(u8* out) const noexcept {
    for (const std::string& block : blocks_) {
      std::memcpy(out, block.data(), block.size());
      out += block.size();
    }
    return out;
  }

 private:
  static constexpr std::size_t kBlockMin = 256;
  static constexpr std::size_t kBlockMax = 1 << 16;
  std::vector<std::string> blocks_;
  std::size_t size_ = 0;
};

class CardColumns {
 public:
  CardColumns(nb::handle words, nb::handle periods) : words_(read_card_words(words)) {
    for (const nb::handle period : nb::borrow<nb::sequence>(periods)) {
      periods_.push_back(read_bytes(period, kNumberBytes, "the number of a period is 4 bytes"));
    }
  }

  // The indexes of the cards that have an entry of the periods; these are numbered on from the last ones.
  nb::object add(nb::handle cards) {
    if (readers_ != 0) throw nb::value_error("the columns are being read");
    Vector<u32> found;
    u32 index = 0;
    for (const nb::handle each : nb::borrow<nb::sequence>(cards)) {
      if (add_card(PlainCard(each, words_))) {
        if (count_ == UINT32_MAX) throw std::overflow_error("there are too many cards");
        ++count_;
        found.push_back(index);
      }
      ++index;
    }
    return to_bytes(found);
  }

  nb::object stops() const {
    nb::object found = stolen(PyList_New(0));
    for (const auto& [name, column] : columns_) {
      const nb::object bytes = stolen(PyBytes_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
      if (PyList_Append(found.ptr(), bytes.ptr()) != 0) throw nb::python_error();
    }
    return found;
  }

  // Packed numbers and records of the cards at some stops.
  nb::object gather(nb::handle stops) {
    std::vector<const Stop*> chosen;
    std::size_t numbers_bytes = 0;
    std::size_t records_bytes = 0;
    for (const nb::handle stop : nb::borrow<nb::sequence>(stops)) {
      const auto found = columns_.find(read_bytes(stop, kStopBytes, "a stop is 8 bytes"));
      if (found == columns_.end()) continue;
      chosen.push_back(&found->second);
      numbers_bytes += found->second.numbers.size();
      records_bytes += found->second.records.size();
    }
    BytesOut numbers(numbers_bytes);
    BytesOut records(records_bytes);
    ++readers_;  // with the GIL, like whoever adds
    over_rows(numbers_bytes / sizeof(u32), [&] {
      u8* number = numbers.data();
      u8* record = records.data();
      for (const Stop* stop : chosen) {
        number = stop->numbers.copy_to(number);
        record = stop->records.copy_to(record);
      }
    });
    --readers_;
    return to_tuple(numbers.take(), records.take());
  }

 private:
  struct Stop {
    BlockColumn numbers;
    BlockColumn records;
  };

  static std::string read_bytes(nb::handle value, std::size_t size, const char* fault) {
    if (!PyBytes_Check(value.ptr()) || PyBytes_GET_SIZE(value.ptr()) != static_cast<Py_ssize_t>(size)) {
      throw nb::value_error(fault);
    }
    return {PyBytes_AS_STRING(value.ptr()), size};
  }

  bool add_card(const PlainCard& card) {
    bool is_chosen = false;
    for (std::size_t n = 0; n < card.size(); ++n) {
      const std::string_view entry = card.entry(n);
      if (!is_wanted(entry.substr(0, kNumberBytes))) continue;
      Stop& stop = column_of(entry.substr(0, kStopBytes));
      stop.numbers.append(reinterpret_cast<const char*>(&count_), sizeof count_);
      stop.records.append(entry.data() + kStopBytes, entry.size() - kStopBytes);
      is_chosen = true;
    }
    return is_chosen;
  }

  bool is_wanted(std::string_view period) const noexcept {
    return std::find(periods_.begin(), periods_.end(), period) != periods_.end();
  }

  // Neighbours are often at the same stop.
  Stop& column_of(std::string_view name) {
    if (last_ == nullptr || last_->first != name) last_ = &*columns_.try_emplace(std::string(name)).first;
    return last_->second;
  }

  unsigned words_;
  std::vector<std::string> periods_;  // few: those that are settled or kept at a time
  std::unordered_map<std::string, Stop> columns_;
  std::pair<const std::string, Stop>* last_ = nullptr;  // elements of the map never move
  u32 count_ = 0;
  int readers_ = 0;
};

}  // namespace toprung
