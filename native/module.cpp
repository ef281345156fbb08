// The Python face of the core: its classes, their docstrings and nothing that decides anything.
// src/toprung/_native.pyi is the same contract for type checkers.
#include <array>
#include <climits>
#include <optional>
#include <unordered_map>

#include <nanobind/stl/unique_ptr.h>

#include "best_cards.hpp"
#include "best_of.hpp"
#include "card_columns.hpp"
#include "cards.hpp"
#include "docstrings.hpp"
#include "merkle.hpp"
#include "merge.hpp"
#include "player_lists.hpp"
#include "position_map.hpp"
#include "python.hpp"
#include "record_reader.hpp"
#include "tree.hpp"

namespace toprung {
namespace {

// Below this many players a batch is over before giving up the GIL would have paid.
constexpr std::size_t kShortBatch = 64;
constexpr std::size_t kShortMerge = 128;

// ---- PlayerTable ---------------------------------------------------------------------------------

u32 read_number(nb::handle value) {
  const i64 number = to_int64(value, "number");
  if (number < 0 || number >= i64{kNone}) throw nb::index_error("no such player number");
  return static_cast<u32>(number);
}

nb::object table_intern(PlayerTable& table, nb::handle id) {
  const PlayerArg player = read_player_id(table, id);
  return to_int(writing(table.gate, [&] {
    return table.intern({player.bytes, player.length}, player.tag);
  }));
}

nb::object table_intern_many(PlayerTable& table, nb::handle ids) {
  const PlayerBatch batch(table, ids, true);
  Vector<u32> numbers(batch.size());
  const auto intern = [&] { batch.intern(table, numbers.data()); };
  batch.size() < kShortBatch ? writing(table.gate, intern) : writing_long(table.gate, intern);
  return to_bytes(numbers);
}

nb::object table_number(PlayerTable& table, nb::handle id) {
  const PlayerArg player = read_player_id(table, id);
  const u32 number = reading(table.gate, [&] { return player.resolve(table); });
  return number == kNone ? nb::none() : to_int(number);
}

nb::object table_numbers(PlayerTable& table, nb::handle ids) {
  const PlayerBatch batch(table, ids, true);
  Vector<u32> numbers(batch.size());
  const auto resolve = [&] { batch.resolve(table, numbers.data()); };
  batch.size() < kShortBatch ? reading(table.gate, resolve) : reading_long(table.gate, resolve);
  return to_bytes(numbers);
}

nb::object table_id(PlayerTable& table, nb::handle value) {
  const u32 number = read_number(value);
  u8 bytes[kIdBytesMax];
  const u32 length = reading(table.gate, [&]() -> u32 {
    if (number >= table.limit()) throw std::out_of_range("no such player number");
    if (!table.is_present(number)) return 0;
    const IdView id = table.id_of(number);
    std::memcpy(bytes, id.bytes, id.length);
    return id.length;
  });
  return length == 0 ? nb::none() : to_bytes(bytes, length);
}

nb::object table_ids(PlayerTable& table, nb::handle value) {
  const ColumnArg numbers(value, "numbers");
  Vector<i32> offsets;
  Vector<u8> bytes;
  unchanging(table.gate, numbers.size() < kShortBatch, [&](const Pause& pause) {
    table.copy_ids(numbers.data(), numbers.size(), offsets, bytes, pause);
  });
  return to_tuple(to_bytes(offsets), to_bytes(bytes));
}

void table_forget(PlayerTable& table, nb::handle value, bool is_off_all_sets) {
  const u32 number = read_number(value);
  writing(table.gate, [&] { table.forget(number, is_off_all_sets); });
}

void table_truncate(PlayerTable& table, nb::handle value) {
  const u64 limit = to_count(value, "limit");
  writing(table.gate, [&] { table.truncate(static_cast<u32>(std::min<u64>(limit, kNone))); });
}

nb::object table_dump(PlayerTable& table) {
  return make_dump(table.gate, table);
}

nb::object table_load(nb::handle dump) {
  const StillBytes bytes(dump, "dump");
  auto table = std::make_unique<PlayerTable>();
  {
    const nb::gil_scoped_release released;
    table->load(bytes.data(), bytes.length());
  }
  return nb::cast(std::move(table));
}

// ---- RankedSet -----------------------------------------------------------------------------------

// The set, and the Python object of the table it must outlive.
struct PySet {
  nb::object table_object;
  std::unique_ptr<RankedSet> set;

  PySet(nb::object table, const Shape& shape)
      : table_object(std::move(table)),
        set(RankedSet::make(*nb::cast<PlayerTable*>(table_object), shape)) {}

  PlayerTable& table() const noexcept { return set->table(); }
  Gate& gate() const noexcept { return set->table().gate; }
  const Shape& shape() const noexcept { return set->shape(); }
  nb::object record(const u64* words) const { return to_record(words, shape().words); }
};

unsigned read_small(nb::handle value, const char* name) {
  const i64 number = to_int64(value, name);
  return static_cast<unsigned>(std::clamp<i64>(number, 0, kWordsMax + 1));
}

void set_init(PySet* self, nb::handle players, nb::handle words, nb::handle order, nb::handle tied) {
  if (!nb::isinstance<PlayerTable>(players)) refuse_type("players must be a PlayerTable", players);
  Shape shape;
  shape.words = read_small(words, "words");
  shape.order = order.is_none() ? shape.words : read_small(order, "order");
  shape.tied = read_small(tied, "tied");
  if (!shape.is_valid()) throw nb::value_error("a shape has 1 <= tied <= order <= words <= 4");
  new (self) PySet(nb::borrow(players), shape);
}

bool set_contains(PySet& self, nb::handle value) {
  const PlayerArg player = read_player(self.table(), value);
  return reading(self.gate(), [&] { return self.set->contains(player.resolve(self.table())); });
}

nb::object set_put(PySet& self, nb::handle value, nb::handle record) {
  const PlayerArg player = read_player(self.table(), value);
  u64 words[kWordsMax];
  u64 old[kWordsMax];
  read_record(record, self.shape(), words);
  const bool had = writing(self.gate(), [&] {
    const u32 number = player.resolve(self.table());
    if (number == kNone && player.length != 0) throw unknown_player("this player has no number");
    self.table().require(number);
    return self.set->put(number, words, old);
  });
  return had ? self.record(old) : nb::none();
}

nb::object set_remove(PySet& self, nb::handle value) {
  const PlayerArg player = read_player(self.table(), value);
  u64 old[kWordsMax];
  const bool had = writing(self.gate(), [&] {
    return self.set->remove(player.resolve(self.table()), old);
  });
  return had ? self.record(old) : nb::none();
}

nb::object set_find(PySet& self, nb::handle value) {
  const PlayerArg player = read_player(self.table(), value);
  u64 words[kWordsMax];
  const bool found = reading(self.gate(), [&] {
    return self.set->find(player.resolve(self.table()), words);
  });
  return found ? self.record(words) : nb::none();
}

nb::object set_offset(PySet& self, nb::handle value) {
  const PlayerArg player = read_player(self.table(), value);
  const i64 offset = reading(self.gate(), [&] {
    return self.set->offset(player.resolve(self.table()));
  });
  return offset < 0 ? nb::none() : to_int(static_cast<u64>(offset));
}

nb::object to_place(const PySet& self, const PlaceOf& place, u64 size) {
  if (!place.found) return nb::none();
  return to_tuple(to_int(place.offset), to_int(place.tied_before), to_int(place.distinct_before),
                  to_int(place.tied_until), to_int(size), self.record(place.record));
}

nb::object set_place(PySet& self, nb::handle value) {
  const PlayerArg player = read_player(self.table(), value);
  u64 size = 0;
  const PlaceOf place = reading(self.gate(), [&] {
    size = self.set->size();
    return self.set->place(player.resolve(self.table()));
  });
  return to_place(self, place, size);
}

nb::object to_rows(const PySet& self, const Rows& rows) {
  const std::size_t count = rows.numbers.size();
  const std::size_t words = self.shape().words;
  nb::object list = stolen(PyList_New(static_cast<Py_ssize_t>(count)));
  const u8* id = rows.id_bytes.data();
  for (std::size_t i = 0; i < count; ++i) {
    nb::object row = to_tuple(to_int(rows.numbers[i]), to_bytes(id, rows.id_lengths[i]),
                              self.record(&rows.records[i * words]));
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), row.release().ptr());
    id += rows.id_lengths[i];
  }
  return list;
}

nb::object to_slice(const PySet& self, const Rows& rows) {
  return to_tuple(to_int(rows.start), to_int(rows.size), to_int(rows.tied_before),
                  to_int(rows.distinct_before), to_rows(self, rows), to_int(rows.tied_until));
}

nb::object set_at(PySet& self, nb::handle value) {
  const i64 offset = to_int64(value, "offset");
  const Rows rows = reading(self.gate(), [&] {
    if (offset < 0 || static_cast<u64>(offset) >= self.set->size()) {
      throw std::out_of_range("no entry at this offset");
    }
    return self.set->rows(static_cast<u64>(offset), static_cast<u64>(offset) + 1);
  });
  return nb::borrow(PyList_GET_ITEM(to_rows(self, rows).ptr(), 0));
}

nb::object set_count_before(PySet& self, nb::handle key, nb::handle id) {
  u64 words[kWordsMax];
  read_key(key, self.shape(), words);
  const IdView probe = read_probe_id(id);
  return to_int(reading(self.gate(), [&] { return self.set->count_before(words, probe); }));
}

nb::object set_counts_before(PySet& self, nb::handle value) {
  const nb::object keys = stolen(PySequence_Fast(value.ptr(), "keys must be a sequence of bytes"));
  Vector<std::array<u64, kWordsMax>> words;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(keys.ptr()); ++i) {
    words.emplace_back();
    read_key(PySequence_Fast_GET_ITEM(keys.ptr(), i), self.shape(), words.back().data());
  }
  Vector<u64> counts(words.size());
  const auto look = [&] {
    for (std::size_t i = 0; i < words.size(); ++i) {
      counts[i] = self.set->count_before(words[i].data(), IdView{});
    }
  };
  words.size() < kShortBatch ? reading(self.gate(), look) : reading_long(self.gate(), look);
  nb::object list = stolen(PyList_New(static_cast<Py_ssize_t>(counts.size())));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), to_int(counts[i]).release().ptr());
  }
  return list;
}

nb::object set_distinct_before(PySet& self, nb::handle key) {
  u64 words[kWordsMax];
  read_key(key, self.shape(), words);
  return to_int(reading(self.gate(), [&] { return self.set->distinct_before(words); }));
}

// What equal first rows have in common: see Slice.fingerprint in toprung/ports/index.py.
nb::object set_fingerprint(PySet& self, nb::handle value) {
  const u64 stop = to_count(value, "stop");
  const Rows rows = reading(self.gate(), [&] { return self.set->rows(0, stop); });
  const std::size_t count = rows.numbers.size();
  const std::size_t record_bytes = count * self.shape().words * 8;
  const std::string sizes = std::to_string(rows.size) + ' ' + std::to_string(rows.tied_until) + ' ' +
                            std::to_string(count) + ' ';
  const std::size_t length =
      sizes.size() + record_bytes + rows.id_bytes.size() + (count == 0 ? 0 : count - 1);
  nb::object fingerprint = to_bytes(nullptr, length);
  u8* out = reinterpret_cast<u8*>(PyBytes_AS_STRING(fingerprint.ptr()));
  std::memcpy(out, sizes.data(), sizes.size());
  write_words(rows.records.data(), rows.records.size(), out + sizes.size());
  out += sizes.size() + record_bytes;
  const u8* id = rows.id_bytes.data();
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) *out++ = 0;
    std::memcpy(out, id, rows.id_lengths[i]);
    out += rows.id_lengths[i];
    id += rows.id_lengths[i];
  }
  return fingerprint;
}

nb::object set_slice(PySet& self, nb::handle start_value, nb::handle stop_value) {
  const u64 start = to_count(start_value, "start");
  const u64 stop = to_count(stop_value, "stop");
  return to_slice(self, reading(self.gate(), [&] { return self.set->rows(start, stop); }));
}

nb::object set_export(PySet& self, nb::handle start_value, nb::handle stop_value) {
  const u64 start = to_count(start_value, "start");
  const u64 stop = to_count(stop_value, "stop");
  const RankedSet& set = *self.set;
  const auto count_rows = [&] {
    const u64 end = std::min(stop, set.size());
    return end - std::min(start, end);
  };
  for (;;) {
    const u64 count = reading(self.gate(), count_rows);
    BytesOut numbers(count * 8), records(count * self.shape().words * 8);
    const bool fits = unchanging(self.gate(), count <= kShortColumns, [&](const Pause& pause) {
      if (count_rows() != count) return false;  // it changed meanwhile
      set.copy_rows(start, count, numbers.data(), records.data(), pause);
      return true;
    });
    if (fits) return to_tuple(numbers.take(), records.take());
  }
}

// Rows [from - above, from + below), clipped; with `full` moved so that as many rows remain.
Rows rows_near(const RankedSet& set, u64 from, u64 above, u64 below, bool full) {
  const u64 size = set.size();
  const u64 before = std::min(above, from);
  const u64 after = std::min(below, size - from);
  u64 start = from - before;
  u64 stop = from + after;
  if (full) {
    stop += std::min(above - before, size - stop);
    start -= std::min(below - after, start);
  }
  return set.rows(start, stop);
}

nb::object set_slice_around(PySet& self, nb::handle value, nb::handle above_value,
                            nb::handle below_value) {
  const PlayerArg player = read_player(self.table(), value);
  const u64 above = to_count(above_value, "above");
  const u64 below = to_count(below_value, "below");
  bool found = false;
  const Rows rows = reading(self.gate(), [&] {
    const i64 offset = self.set->offset(player.resolve(self.table()));
    found = offset >= 0;
    if (!found) return Rows{};
    return rows_near(*self.set, static_cast<u64>(offset), above, below + 1, true);
  });
  return found ? to_slice(self, rows) : nb::none();
}

nb::object set_slice_at(PySet& self, nb::handle key, nb::handle id, nb::handle above_value,
                        nb::handle below_value, bool full) {
  u64 words[kWordsMax];
  read_key(key, self.shape(), words);
  const IdView probe = read_probe_id(id);
  const u64 above = to_count(above_value, "above");
  const u64 below = to_count(below_value, "below");
  return to_slice(self, reading(self.gate(), [&] {
    return rows_near(*self.set, self.set->count_before(words, probe), above, below, full);
  }));
}

// Players as a packed buffer of numbers or as any sequence.
class PlayersArg {
 public:
  PlayersArg(const PlayerTable& table, nb::handle players) {
    if (PyObject_CheckBuffer(players.ptr())) {
      numbers_ = read_numbers(players, "players");
    } else {
      batch_.emplace(table, players, false);
      numbers_.resize(batch_->size());
    }
  }
  std::size_t size() const noexcept { return numbers_.size(); }
  const Vector<u32>& resolve(const PlayerTable& table) {
    if (batch_) batch_->resolve(table, numbers_.data());
    return numbers_;
  }

 private:
  Vector<u32> numbers_;
  std::optional<PlayerBatch> batch_;
};

nb::object set_offsets(PySet& self, nb::handle value) {
  PlayersArg players(self.table(), value);
  Vector<i64> offsets(players.size());
  const auto look = [&] {
    self.set->offsets(players.resolve(self.table()).data(), players.size(), offsets.data());
  };
  players.size() < kShortBatch ? reading(self.gate(), look) : reading_long(self.gate(), look);
  return to_bytes(offsets);
}

nb::object set_places(PySet& self, nb::handle value) {
  PlayersArg players(self.table(), value);
  Vector<PlaceOf> places(players.size());
  u64 size = 0;
  const auto look = [&] {
    size = self.set->size();
    self.set->places(players.resolve(self.table()).data(), players.size(), places.data());
  };
  players.size() < kShortBatch ? reading(self.gate(), look) : reading_long(self.gate(), look);
  nb::object list = stolen(PyList_New(static_cast<Py_ssize_t>(places.size())));
  for (std::size_t i = 0; i < places.size(); ++i) {
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                    to_place(self, places[i], size).release().ptr());
  }
  return list;
}

nb::object set_best_of(PySet& self, nb::handle value, nb::handle count_value) {
  const Vector<u32> numbers = read_numbers(value);
  const u64 wanted = to_count(count_value, "count");
  Best best;
  Vector<u8> id_bytes;
  Vector<u32> id_lengths;
  u64 size = 0;
  const auto look = [&] {
    size = self.set->size();
    best = best_of(*self.set, numbers, wanted);
    for (const u32 number : best.numbers) {
      const IdView id = self.table().id_of(number);
      id_lengths.push_back(id.length);
      id_bytes.insert(id_bytes.end(), id.bytes, id.bytes + id.length);
    }
  };
  numbers.size() < kShortBatch ? reading(self.gate(), look) : reading_long(self.gate(), look);
  nb::object list = stolen(PyList_New(static_cast<Py_ssize_t>(best.numbers.size())));
  const u8* id = id_bytes.data();
  for (std::size_t i = 0; i < best.numbers.size(); ++i) {
    nb::object row = to_tuple(to_bytes(id, id_lengths[i]), to_place(self, best.places[i], size));
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), row.release().ptr());
    id += id_lengths[i];
  }
  return to_tuple(to_int(best.present), to_int(best.tied_until), std::move(list));
}

void set_put_many(PySet& self, nb::handle numbers_value, nb::handle records_value) {
  const Vector<u32> numbers = read_numbers(numbers_value);
  const Vector<u64> records = read_records(records_value, self.shape(), numbers.size());
  const std::size_t words = self.shape().words;
  writing_long(self.gate(), [&] {
    constexpr std::size_t kChunk = 512;
    std::size_t fresh = 0;
    for (const u32 number : numbers) {
      self.table().require(number);
      fresh += !self.set->contains(number);
    }
    self.set->reserve(numbers.size(), fresh);
    for (std::size_t done = 0; done < numbers.size(); done += kChunk) {
      const std::size_t count = std::min(kChunk, numbers.size() - done);
      self.set->put_many(numbers.data() + done, records.data() + done * words, count);
      self.gate().state.give_way();
    }
    self.set->trim();
  });
}

u64 set_remove_many(PySet& self, nb::handle value) {
  const Vector<u32> numbers = read_numbers(value);
  return writing_long(self.gate(), [&] {
    u64 removed = 0;
    u64 old[kWordsMax];
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      removed += self.set->remove(numbers[i], old);
      if (i % 512 == 511) self.gate().state.give_way();
    }
    return removed;
  });
}

void set_build(PySet& self, nb::handle numbers_value, nb::handle records_value) {
  const Vector<u32> numbers = read_numbers(numbers_value);
  const Vector<u64> records = read_records(records_value, self.shape(), numbers.size());
  writing_long(self.gate(), [&] {
    if (self.set->size() != 0) throw std::invalid_argument("only an empty set can be built");
    self.set->build(numbers.data(), records.data(), numbers.size());
  });
}

void set_clear(PySet& self) {
  writing(self.gate(), [&] { self.set->clear(); });
}

nb::object set_dump(PySet& self) {
  return make_dump(self.gate(), *self.set);
}

// Like a dump: without the GIL, and readers are let through.
nb::object set_ordered(PySet& self) {
  for (;;) {
    const std::size_t size = reading(self.gate(), [&] { return static_cast<std::size_t>(self.set->size()); });
    Vector<u32> numbers(size);
    Vector<u8> starts((size + 7) / 8);
    Vector<u64> words(size);
    const bool fits = writing_long(self.gate(), [&] {
      if (self.set->size() != size) return false;  // it changed meanwhile
      Gate& gate = self.gate();
      words.resize(self.set->write_order(numbers.data(), starts.data(), words.data(),
                                         [&] { gate.state.give_way(); }));
      return true;
    });
    if (fits) return nb::make_tuple(to_bytes(numbers), to_bytes(starts), to_bytes(words));
  }
}

nb::object set_load(nb::handle players, nb::handle dump) {
  if (!nb::isinstance<PlayerTable>(players)) refuse_type("players must be a PlayerTable", players);
  const StillBytes bytes(dump, "dump");
  DumpHeader header;
  {
    const nb::gil_scoped_release released;
    header = open_dump(bytes.data(), bytes.length(), kSetMagic);
  }
  const Shape shape{header.shape[0], header.shape[1], header.shape[2]};
  if (!shape.is_valid() || header.shape[3] != 0) throw nb::value_error("the dump's shape is impossible");
  auto loaded = std::make_unique<PySet>(nb::borrow(players), shape);
  writing_long(loaded->gate(), [&] { loaded->set->load(bytes.data(), bytes.length(), header); });
  return nb::cast(std::move(loaded));
}

// ---- Merge ---------------------------------------------------------------------------------------

// The plan, and the Python objects of the sets it must not outlive.
struct PyMerge {
  Vector<nb::object> sets;
  std::unique_ptr<Merge> merge;
};

// A short merge is done before a busy program would give the GIL back, so it keeps it. Should
// somebody take the gate after the look, the wait is short: nobody behind it waits for the GIL.
template <class Work>
auto merging(const Merge& merge, Work work) {
  if (merge.size() < kShortMerge && merge.is_gate_free()) return work();
  const nb::gil_scoped_release released;
  return work();
}

u32 read_descending(nb::handle value, unsigned tied) {
  const u64 bits = to_count(value, "descending");
  if (bits >> tied != 0) throw nb::value_error("descending has a bit for each tied word");
  return static_cast<u32>(bits);
}

Rule read_rule(nb::handle value) {
  if (!PyUnicode_Check(value.ptr())) refuse_type("rule must be a str", value);
  if (PyUnicode_CompareWithASCIIString(value.ptr(), "keep-better") == 0) return Rule::keep_better;
  if (PyUnicode_CompareWithASCIIString(value.ptr(), "replace") == 0) return Rule::replace;
  if (PyUnicode_CompareWithASCIIString(value.ptr(), "add") == 0) return Rule::add;
  throw nb::value_error("rule must be 'keep-better', 'replace' or 'add'");
}

// The distinct sets of all routes, and the routes as indexes into them.
struct Routes {
  Vector<nb::object> objects;
  Vector<RankedSet*> sets;
  Vector<Vector<u32>> routes;
  std::unordered_map<const RankedSet*, u32> indexes;  // of all but the newest few
  static constexpr std::size_t kFewSets = 16;

  explicit Routes(nb::handle value) {
    const nb::object outer = stolen(PySequence_Fast(value.ptr(), "routes must be a sequence"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(outer.ptr()); ++i) {
      const nb::object inner = stolen(PySequence_Fast(
          PySequence_Fast_GET_ITEM(outer.ptr(), i), "a route must be a sequence of sets"));
      Vector<u32> route;
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(inner.ptr()); ++k) {
        route.push_back(index_of_set(PySequence_Fast_GET_ITEM(inner.ptr(), k)));
      }
      Vector<u32> sorted = route;
      std::sort(sorted.begin(), sorted.end());
      if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        throw nb::value_error("a route names a set twice");
      }
      routes.push_back(std::move(route));
    }
  }

  u32 index_of_set(nb::handle object) {
    PySet* self = nullptr;
    if (!nb::try_cast(object, self) || self == nullptr) refuse_type("a route holds RankedSets", object);
    RankedSet* set = self->set.get();
    // Routes of one board name the same few sets over and over, or thousands when scopes are many.
    const std::size_t first = sets.size() - std::min(sets.size(), kFewSets);
    for (std::size_t i = sets.size(); i-- > first;) {
      if (sets[i] == set) return static_cast<u32>(i);
    }
    if (first > 0) {
      const auto found = indexes.find(set);
      if (found != indexes.end()) return found->second;
    }
    if (!sets.empty() && &set->table() != &sets[0]->table()) {
      throw nb::value_error("the sets of a merge must share one player table");
    }
    if (!sets.empty() && set->shape() != sets[0]->shape()) {
      throw nb::value_error("the sets of a merge must share one shape");
    }
    const Shape& shape = set->shape();
    if (shape.words != shape.tied + 2 || shape.order == shape.words) {
      throw nb::value_error("a merge needs records of tied words, a time and a version");
    }
    objects.push_back(nb::borrow(object));
    sets.push_back(set);
    if (sets.size() > kFewSets) {
      const std::size_t leaving = sets.size() - 1 - kFewSets;
      indexes.emplace(sets[leaving], static_cast<u32>(leaving));
    }
    return static_cast<u32>(sets.size() - 1);
  }
};

// For each route the indexes of its watched sets; empty for None.
Vector<Vector<u32>> read_watched(nb::handle value, const Vector<Vector<u32>>& routes) {
  Vector<Vector<u32>> watched;
  if (value.is_none()) return watched;
  const nb::object outer = stolen(PySequence_Fast(value.ptr(), "watched must be a sequence"));
  if (static_cast<std::size_t>(PySequence_Fast_GET_SIZE(outer.ptr())) != routes.size()) {
    throw nb::value_error("watched names sets for each route");
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const nb::object inner =
        stolen(PySequence_Fast(PySequence_Fast_GET_ITEM(outer.ptr(), static_cast<Py_ssize_t>(i)),
                               "watched must hold sequences of indexes"));
    Vector<u32> indexes;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(inner.ptr()); ++k) {
      const i64 index = to_int64(PySequence_Fast_GET_ITEM(inner.ptr(), k), "watched");
      if (index < 0 || static_cast<u64>(index) >= routes[i].size()) {
        throw nb::index_error("watched names a set that its route does not have");
      }
      indexes.push_back(static_cast<u32>(index));
    }
    watched.push_back(std::move(indexes));
  }
  return watched;
}

// For each route the index of its guard among all sets; empty for None.
Vector<u32> read_guards(nb::handle value, Routes& routes) {
  Vector<u32> guards;
  if (value.is_none()) return guards;
  const nb::object items = stolen(PySequence_Fast(value.ptr(), "guards must be a sequence"));
  if (static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.ptr())) != routes.routes.size()) {
    throw nb::value_error("guards names a set or None for each route");
  }
  for (std::size_t i = 0; i < routes.routes.size(); ++i) {
    const nb::handle item = PySequence_Fast_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i));
    guards.push_back(item.is_none() ? kNone : routes.index_of_set(item));
  }
  return guards;
}

// For each row the number of its claim, or kNone; empty for None.
Vector<u32> read_claims(nb::handle value, std::size_t rows) {
  Vector<u32> claims;
  if (value.is_none()) return claims;
  const Vector<i64> numbers = PinnedBuffer(value, "claims").copy<i64>("claims", "ql");
  if (numbers.size() != rows) throw nb::value_error("claims has a number for each row");
  claims.reserve(rows);
  for (const i64 number : numbers) {
    if (number < -1 || number >= static_cast<i64>(rows)) {
      throw nb::value_error("a claim is a number below that of rows, or -1");
    }
    claims.push_back(number < 0 ? kNone : static_cast<u32>(number));
  }
  return claims;
}

// For each row whether it has a limit, and which; empty for None.
Vector<i64> read_limits(nb::handle value, std::size_t rows) {
  if (value.is_none()) return {};
  Vector<i64> limits = PinnedBuffer(value, "limits").copy<i64>("limits", "ql");
  if (limits.size() != rows * 2) throw nb::value_error("limits has two numbers for each row");
  return limits;
}

void read_max_per(nb::handle value, MergeOptions& options) {
  options.has_max_per = !value.is_none();
  if (!options.has_max_per) return;
  const nb::object items = stolen(PySequence_Fast(value.ptr(), "max_per must be a pair"));
  if (PySequence_Fast_GET_SIZE(items.ptr()) != 2) {
    throw nb::value_error("max_per is an amount and a span in microseconds");
  }
  const auto item = [&](Py_ssize_t at) { return nb::handle(PySequence_Fast_GET_ITEM(items.ptr(), at)); };
  options.per_amount = static_cast<i64>(to_count(item(0), "max_per"));
  options.per_span = static_cast<i64>(to_count(item(1), "max_per"));
}

void merge_init(PyMerge* self, nb::handle rule, nb::handle routes_value, nb::handle rows_value,
                nb::handle first_version, nb::handle descending, nb::handle last_wins,
                nb::handle max_increase, nb::handle watched_value, nb::handle guards_value,
                nb::handle claims_value, nb::handle max_per, nb::handle limits_value,
                nb::handle room) {
  MergeOptions options;
  options.rule = read_rule(rule);
  options.first_version = to_count(first_version, "first_version");
  if (!PyBool_Check(last_wins.ptr())) refuse_type("last_wins must be a bool", last_wins);
  options.last_wins = last_wins.ptr() == Py_True;
  options.has_max_increase = !max_increase.is_none();
  if (options.has_max_increase) {
    options.max_increase = static_cast<i64>(to_count(max_increase, "max_increase"));
  }
  read_max_per(max_per, options);
  options.room = to_count(room, "room");
  Routes routes(routes_value);
  Vector<u32> guards = read_guards(guards_value, routes);
  PlayerTable* table = routes.sets.empty() ? nullptr : &routes.sets[0]->table();
  const unsigned tied = routes.sets.empty() ? 1u : routes.sets[0]->shape().tied;
  options.descending = read_descending(descending, tied);
  Vector<i64> rows = PinnedBuffer(rows_value, "rows").copy<i64>("rows", "ql");
  const std::size_t width = tied + 3;
  if (rows.size() % width != 0) {
    PyErr_Format(PyExc_ValueError, "a row of this merge has %zu values", width);
    throw nb::python_error();
  }
  if (options.first_version > static_cast<u64>(LLONG_MAX) - rows.size() / width) {
    throw std::overflow_error("versions do not fit 64 bits");
  }
  Vector<Vector<u32>> watched = read_watched(watched_value, routes.routes);
  Vector<u32> claims = read_claims(claims_value, rows.size() / width);
  Vector<i64> limits = read_limits(limits_value, rows.size() / width);
  auto merge = std::make_unique<Merge>(table, std::move(routes.sets), std::move(routes.routes),
                                       std::move(watched), std::move(guards), std::move(claims),
                                       std::move(limits), std::move(rows), tied, options);
  merging(*merge, [&] { merge->plan(); });
  new (self) PyMerge{std::move(routes.objects), std::move(merge)};
}

std::size_t read_row(const Merge& merge, nb::handle value) {
  const i64 row = to_int64(value, "row");
  if (row < 0 || static_cast<u64>(row) >= merge.size()) throw nb::index_error("no such row");
  return static_cast<std::size_t>(row);
}

nb::object merge_changes(PyMerge& self, nb::handle value) {
  const Merge& merge = *self.merge;
  const std::size_t at = read_row(merge, value);
  const std::size_t count = merge.change_count(at);
  const unsigned words = merge.words();
  nb::object list = stolen(PyList_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; i < count; ++i) {
    const Merge::Change change = merge.change(at, i);
    nb::object before = change.had ? to_record(change.before, words) : nb::object(nb::none());
    nb::object pair = to_tuple(std::move(before), to_record(change.after, words));
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), pair.release().ptr());
  }
  return list;
}

nb::object to_counts(const PlaceOf* place) {
  if (place == nullptr || !place->found) return nb::none();
  return to_tuple(to_int(place->offset), to_int(place->tied_before), to_int(place->distinct_before));
}

nb::object merge_outcomes(PyMerge& self, nb::handle value) {
  const Merge& merge = *self.merge;
  const std::size_t at = read_row(merge, value);
  const std::size_t count = merge.outcome_count(at);
  nb::object list = stolen(PyList_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; i < count; ++i) {
    const Merge::Outcome outcome = merge.outcome(at, i);
    nb::object previous = outcome.had ? stolen(PyLong_FromLongLong(outcome.previous)) : nb::none();
    nb::object row = to_tuple(stolen(PyLong_FromLongLong(outcome.score)), std::move(previous),
                              to_counts(outcome.before), to_counts(outcome.after),
                              to_int(outcome.total));
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), row.release().ptr());
  }
  return list;
}

u64 merge_apply(PyMerge& self) {
  return merging(*self.merge, [&] { return self.merge->apply(); });
}

// ---- PositionMap ---------------------------------------------------------------------------------

// The map, and the Python object of the table it must outlive.
struct PyPositions {
  nb::object table_object;
  std::unique_ptr<PositionMap> map;
};

void positions_init(PyPositions* self, nb::handle players) {
  if (!nb::isinstance<PlayerTable>(players)) refuse_type("players must be a PlayerTable", players);
  auto map = std::make_unique<PositionMap>(*nb::cast<PlayerTable*>(players));
  new (self) PyPositions{nb::borrow(players), std::move(map)};
}

nb::object positions_find(PyPositions& self, nb::handle value) {
  const u32 number = read_number(value);
  const i64 found = reading(self.map->gate(), [&] { return self.map->find(number); });
  return found == 0 ? nb::none() : stolen(PyLong_FromLongLong(found));
}

Vector<i64> read_positions(nb::handle value) {
  return PinnedBuffer(value, "positions").copy<i64>("positions", "ql");
}

nb::object positions_previous(PyPositions& self, nb::handle numbers_value, nb::handle positions_value) {
  const Vector<u32> numbers = read_numbers(numbers_value);
  const Vector<i64> positions = read_positions(positions_value);
  const auto look = [&] { return self.map->previous(numbers, positions); };
  Gate& gate = self.map->gate();
  return to_bytes(numbers.size() < kShortBatch ? reading(gate, look) : reading_long(gate, look));
}

nb::object positions_put_many(PyPositions& self, nb::handle numbers_value, nb::handle positions_value) {
  const Vector<u32> numbers = read_numbers(numbers_value);
  const Vector<i64> positions = read_positions(positions_value);
  const auto put = [&] { return self.map->put(numbers, positions); };
  Gate& gate = self.map->gate();
  return to_bytes(numbers.size() < kShortBatch ? writing(gate, put) : writing_long(gate, put));
}

void positions_forget(PyPositions& self, nb::handle value) {
  const u32 number = read_number(value);
  writing(self.map->gate(), [&] { self.map->forget(number); });
}

nb::object positions_items(PyPositions& self) {
  Vector<u32> numbers;
  Vector<i64> positions;
  reading_long(self.map->gate(), [&] { self.map->items(numbers, positions); });
  return to_tuple(to_bytes(numbers), to_bytes(positions));
}

// ---- PlayerLists ---------------------------------------------------------------------------------

// The lists, and the Python object of the table they must outlive.
struct PyLists {
  nb::object table_object;
  std::unique_ptr<PlayerLists> lists;
};

void lists_init(PyLists* self, nb::handle players) {
  if (!nb::isinstance<PlayerTable>(players)) refuse_type("players must be a PlayerTable", players);
  auto lists = std::make_unique<PlayerLists>(*nb::cast<PlayerTable*>(players));
  new (self) PyLists{nb::borrow(players), std::move(lists)};
}

u32 read_item(nb::handle value) {
  const i64 item = to_int64(value, "item");
  if (item < 0 || item >= i64{PlayerLists::kItemLimit}) throw nb::value_error("an item is below 2**31");
  return static_cast<u32>(item);
}

nb::object lists_find(PyLists& self, nb::handle value) {
  const u32 number = read_number(value);
  return to_bytes(reading(self.lists->gate(), [&] { return self.lists->find(number); }));
}

void lists_add(PyLists& self, nb::handle item_value, nb::handle numbers_value) {
  const u32 item = read_item(item_value);
  const Vector<u32> numbers = read_numbers(numbers_value);
  const auto add = [&] { self.lists->add(item, numbers); };
  Gate& gate = self.lists->gate();
  numbers.size() < kShortBatch ? writing(gate, add) : writing_long(gate, add);
}

void lists_remove(PyLists& self, nb::handle item_value, nb::handle numbers_value) {
  const u32 item = read_item(item_value);
  const Vector<u32> numbers = read_numbers(numbers_value);
  const auto remove = [&] { self.lists->remove(item, numbers); };
  Gate& gate = self.lists->gate();
  numbers.size() < kShortBatch ? writing(gate, remove) : writing_long(gate, remove);
}

void lists_forget(PyLists& self, nb::handle value) {
  const u32 number = read_number(value);
  writing(self.lists->gate(), [&] { self.lists->forget(number); });
}

// ---- RecordReader --------------------------------------------------------------------------------

void reader_init(RecordReader* self, nb::handle tied_value, nb::handle descending, bool last_wins) {
  const unsigned tied = read_small(tied_value, "tied");
  if (tied < 1 || tied > 2) throw nb::value_error("one word or two are tied");
  new (self) RecordReader(RecordCodec(tied, read_descending(descending, tied), last_wins));
}

// ---- RankColumns ---------------------------------------------------------------------------------

void ranks_init(RankColumns* self, nb::handle tied_value, nb::handle words_value) {
  const unsigned tied = read_small(tied_value, "tied");
  const unsigned words = read_small(words_value, "words");
  if (tied < 1 || tied > words || words > kWordsMax) {
    throw nb::value_error("a shape has 1 <= tied <= words <= 4");
  }
  new (self) RankColumns(tied, words);
}

// ---- coroutines ----------------------------------------------------------------------------------

// Without an exception to tell the result by, as `send` in Python needs.
nb::object finish(nb::handle coroutine, nb::handle otherwise) {
  PyObject* told = nullptr;
  const PySendResult state = PyIter_Send(coroutine.ptr(), Py_None, &told);
  if (state == PYGEN_ERROR) throw nb::python_error();
  nb::object result = nb::steal(told);
  if (state == PYGEN_RETURN) return result;
  return stolen(PyObject_CallFunctionObjArgs(otherwise.ptr(), coroutine.ptr(), result.ptr(), nullptr));
}

// The aliases of the stub, so that they can be imported at run time too.
void add_aliases(nb::module_& module) {
  const auto tuple_of = [](auto... items) {
    const nb::tuple arguments = nb::make_tuple(items...);
    return stolen(Py_GenericAlias(reinterpret_cast<PyObject*>(&PyTuple_Type), arguments.ptr()));
  };
  const nb::handle integer(reinterpret_cast<PyObject*>(&PyLong_Type));
  const nb::handle bytes(reinterpret_cast<PyObject*>(&PyBytes_Type));
  const nb::object row = tuple_of(integer, bytes, bytes);
  const nb::object rows =
      stolen(Py_GenericAlias(reinterpret_cast<PyObject*>(&PyList_Type), row.ptr()));
  module.attr("Row") = row;
  module.attr("Place") = tuple_of(integer, integer, integer, integer, bytes);
  module.attr("Slice") = tuple_of(integer, integer, integer, integer, rows);
}

// ---- Merkle trees --------------------------------------------------------------------------------

std::string_view read_text(nb::handle value, const char* name) {
  if (!PyBytes_Check(value.ptr())) {
    throw nb::type_error((std::string(name) + " must be bytes").c_str());
  }
  return {PyBytes_AS_STRING(value.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(value.ptr()))};
}

merkle::Texts read_texts(nb::handle value, const char* name) {
  merkle::Texts texts;
  PyObject *key = nullptr, *text = nullptr;
  Py_ssize_t at = 0;
  if (!PyDict_Check(value.ptr())) {
    throw nb::type_error((std::string(name) + " must be a dict").c_str());
  }
  while (PyDict_Next(value.ptr(), &at, &key, &text) != 0) {
    texts.emplace(to_int64(key, name), read_text(text, name));
  }
  return texts;
}

// The arguments are kept alive by the caller, whose objects they are: nobody changes bytes, and the dicts
// and lists are not looked at without the GIL.
nb::object leaf_hashes(nb::handle rows, nb::handle routes, nb::handle tails, nb::list others) {
  const std::string_view text = read_text(rows, "rows");
  const merkle::Texts of_routes = read_texts(routes, "routes"), of_tails = read_texts(tails, "tails");
  std::vector<merkle::Other> found;
  found.reserve(others.size());
  for (nb::handle each : others) {
    if (!PyTuple_Check(each.ptr()) || PyTuple_GET_SIZE(each.ptr()) != 2) {
      throw nb::type_error("others must be pairs of a position and bytes");
    }
    found.push_back({to_int64(PyTuple_GET_ITEM(each.ptr(), 0), "position"),
                     read_text(PyTuple_GET_ITEM(each.ptr(), 1), "leaf")});
  }
  merkle::Leaves leaves;
  {
    const nb::gil_scoped_release released;
    leaves = merkle::hash_leaves(text, of_routes, of_tails, found);
  }
  return nb::make_tuple(to_bytes(leaves.hashes.data(), leaves.hashes.size() * sizeof(Digest)),
                        to_bytes(leaves.positions.data(), leaves.positions.size() * sizeof(i64)));
}

nb::object tree_hash(nb::handle hashes) {
  const std::string_view text = read_text(hashes, "hashes");
  if (text.empty() || text.size() % sizeof(Digest) != 0) {
    throw nb::value_error("hashes must be one or more of 32 bytes");
  }
  Digest root;
  {
    const nb::gil_scoped_release released;
    const auto* const first = reinterpret_cast<const Digest*>(text.data());
    root = merkle::tree_hash({first, text.size() / sizeof(Digest)});
  }
  return to_bytes(root.data(), root.size());
}

nb::object hash_plainly(nb::handle data) {
  const std::string_view text = read_text(data, "data");
  const Digest digest =
      hash_message(-1, merkle::bytes_of(text), text.size(), sha256::compress_plain);
  return to_bytes(digest.data(), digest.size());
}

nb::object hash_quickly(nb::handle data) {
  const std::string_view text = read_text(data, "data");
  const Digest digest = hash_message(-1, merkle::bytes_of(text), text.size());
  return to_bytes(digest.data(), digest.size());
}

}  // namespace

NB_MODULE(_native, module) {
  // Sets that are alive when the interpreter ends are no leak: programs need not close what they open.
  nb::set_leak_warnings(false);
  using namespace nb::literals;

  module.doc() = kModuleDoc;
  module.attr("ID_BYTES_MAX") = kIdBytesMax;
  add_aliases(module);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const unknown_player& unknown) {
      PyErr_SetString(PyExc_KeyError, unknown.what());
    }
  });

  nb::class_<PlayerTable>(module, "PlayerTable", nb::is_final(), kTableDoc)
      .def("__init__", [](PlayerTable* self) { new (self) PlayerTable(); })
      .def("__len__", [](PlayerTable& t) { return reading(t.gate, [&] { return t.present(); }); })
      .def("intern", table_intern, nb::sig("def intern(self, id: str | bytes, /) -> int"), kTableIntern)
      .def("intern_many", table_intern_many,
           nb::sig("def intern_many(self, ids: Sequence[str | bytes], /) -> bytes"), kTableInternMany)
      .def("number", table_number, nb::sig("def number(self, id: str | bytes, /) -> int | None"),
           kTableNumber)
      .def("numbers", table_numbers,
           nb::sig("def numbers(self, ids: Sequence[str | bytes], /) -> bytes"), kTableNumbers)
      .def("id", table_id, nb::sig("def id(self, number: int, /) -> bytes | None"), kTableId)
      .def("ids", table_ids, nb::sig("def ids(self, numbers: Buffer, /) -> tuple[bytes, bytes]"),
           kTableIds)
      .def("forget", table_forget, "number"_a, nb::kw_only(), "is_off_all_sets"_a = false,
           nb::sig("def forget(self, number: int, /, *, is_off_all_sets: bool = False) -> None"),
           kTableForget)
      .def("truncate", table_truncate, nb::sig("def truncate(self, limit: int, /) -> None"),
           kTableTruncate)
      .def_prop_ro("limit", [](PlayerTable& t) { return reading(t.gate, [&] { return t.limit(); }); },
                   kTableLimit)
      .def_prop_ro("nbytes", [](PlayerTable& t) { return reading(t.gate, [&] { return t.nbytes(); }); },
                   kTableNbytes)
      .def("dump", table_dump, nb::sig("def dump(self) -> bytes"), kTableDump)
      .def_static("load", table_load, nb::sig("def load(dump: Buffer, /) -> PlayerTable"), kTableLoad)
      .def("_check", [](PlayerTable& t) { reading_long(t.gate, [&] { t.check(); }); }, kTableCheck);

  nb::class_<PySet>(module, "RankedSet", nb::is_final(), kSetDoc)
      .def("__init__", set_init, "players"_a, nb::kw_only(), "words"_a = 2, "order"_a = nb::none(),
           "tied"_a = 1,
           nb::sig("def __init__(self, players: PlayerTable, *, words: int = 2, "
                   "order: int | None = None, tied: int = 1) -> None"))
      .def("__len__", [](PySet& s) { return reading(s.gate(), [&] { return s.set->size(); }); })
      .def("__contains__", set_contains, nb::sig("def __contains__(self, player: object, /) -> bool"))
      .def("put", set_put,
           nb::sig("def put(self, player: int | str | bytes, record: bytes, /) -> bytes | None"), kSetPut)
      .def("remove", set_remove,
           nb::sig("def remove(self, player: int | str | bytes, /) -> bytes | None"), kSetRemove)
      .def("find", set_find, nb::sig("def find(self, player: int | str | bytes, /) -> bytes | None"),
           kSetFind)
      .def("offset", set_offset,
           nb::sig("def offset(self, player: int | str | bytes, /) -> int | None"), kSetOffset)
      .def("place", set_place,
           nb::sig("def place(self, player: int | str | bytes, /) -> Place | None"), kSetPlace)
      .def("at", set_at, nb::sig("def at(self, offset: int, /) -> Row"), kSetAt)
      .def("count_before", set_count_before, nb::arg(), nb::arg() = nb::bytes("", 0),
           nb::sig("def count_before(self, key: bytes, id: bytes = b'', /) -> int"), kSetCountBefore)
      .def("counts_before", set_counts_before,
           nb::sig("def counts_before(self, keys: Sequence[bytes], /) -> list[int]"), kSetCountsBefore)
      .def("distinct_before", set_distinct_before,
           nb::sig("def distinct_before(self, key: bytes, /) -> int"), kSetDistinctBefore)
      .def("slice", set_slice, nb::sig("def slice(self, start: int, stop: int, /) -> Slice"), kSetSlice)
      .def("export", set_export,
           nb::sig("def export(self, start: int, stop: int, /) -> tuple[bytes, bytes]"), kSetExport)
      .def("fingerprint", set_fingerprint, nb::sig("def fingerprint(self, stop: int, /) -> bytes"),
           kSetFingerprint)
      .def("slice_around", set_slice_around,
           nb::sig("def slice_around(self, player: int | str | bytes, above: int, below: int, /)"
                   " -> Slice | None"),
           kSetSliceAround)
      .def("slice_at", set_slice_at, "key"_a, "id"_a, "above"_a, "below"_a, nb::kw_only(),
           "full"_a = false,
           nb::sig("def slice_at(self, key: bytes, id: bytes, above: int, below: int, *, "
                   "full: bool = False) -> Slice"),
           kSetSliceAt)
      .def("offsets", set_offsets,
           nb::sig("def offsets(self, players: Sequence[int | str | bytes] | Buffer, /) -> bytes"),
           kSetOffsets)
      .def("places", set_places,
           nb::sig("def places(self, players: Sequence[int | str | bytes] | Buffer, /)"
                   " -> list[Place | None]"),
           kSetPlaces)
      .def("best_of", set_best_of,
           nb::sig("def best_of(self, numbers: Buffer, count: int, /)"
                   " -> tuple[int, int, list[tuple[bytes, Place]]]"),
           kSetBestOf)
      .def("put_many", set_put_many,
           nb::sig("def put_many(self, numbers: Buffer, records: Buffer, /) -> None"), kSetPutMany)
      .def("remove_many", set_remove_many, nb::sig("def remove_many(self, numbers: Buffer, /) -> int"),
           kSetRemoveMany)
      .def("build", set_build, nb::sig("def build(self, numbers: Buffer, records: Buffer, /) -> None"),
           kSetBuild)
      .def("clear", set_clear, kSetClear)
      .def("dump", set_dump, nb::sig("def dump(self) -> bytes"), kSetDump)
      .def("ordered", set_ordered, nb::sig("def ordered(self) -> tuple[bytes, bytes, bytes]"), kSetOrdered)
      .def_static("load", set_load,
                  nb::sig("def load(players: PlayerTable, dump: Buffer, /) -> RankedSet"), kSetLoad)
      .def_prop_ro("words", [](PySet& s) { return s.shape().words; }, kSetWords)
      .def_prop_ro("order", [](PySet& s) { return s.shape().order; }, kSetOrder)
      .def_prop_ro("tied", [](PySet& s) { return s.shape().tied; }, kSetTied)
      .def_prop_ro("players", [](PySet& s) { return s.table_object; }, kSetPlayers,
                   nb::sig("def players(self) -> PlayerTable"))
      .def_prop_ro("nbytes", [](PySet& s) { return reading(s.gate(), [&] { return s.set->nbytes(); }); },
                   kSetNbytes)
      .def("_check", [](PySet& s) { reading_long(s.gate(), [&] { s.set->check(); }); }, kSetCheck);

  nb::class_<PyMerge> merge(module, "Merge", nb::is_final(), kMergeDoc);
  merge
      .def("__init__", merge_init, "rule"_a, "routes"_a, "rows"_a, nb::kw_only(), "first_version"_a,
           "descending"_a = 1, "last_wins"_a = false, "max_increase"_a = nb::none(),
           "watched"_a = nb::none(), "guards"_a = nb::none(), "claims"_a = nb::none(),
           "max_per"_a = nb::none(), "limits"_a = nb::none(), "room"_a = 0,
           nb::sig("def __init__(self, rule: str, routes: Sequence[Sequence[RankedSet]], rows: Buffer, "
                   "*, first_version: int, descending: int = 1, last_wins: bool = False, "
                   "max_increase: int | None = None, "
                   "watched: Sequence[Sequence[int]] | None = None, "
                   "guards: Sequence[RankedSet | None] | None = None, "
                   "claims: Buffer | None = None, max_per: tuple[int, int] | None = None, "
                   "limits: Buffer | None = None, room: int = 0) -> None"))
      .def("__len__", [](PyMerge& m) { return m.merge->size(); })
      .def_prop_ro("statuses", [](PyMerge& m) { return to_bytes(m.merge->statuses()); }, kMergeStatuses,
                   nb::sig("def statuses(self) -> bytes"))
      .def_prop_ro("versions", [](PyMerge& m) { return to_bytes(m.merge->versions()); }, kMergeVersions,
                   nb::sig("def versions(self) -> bytes"))
      .def_prop_ro("led_to", [](PyMerge& m) { return to_bytes(m.merge->led_to()); }, kMergeLedTo,
                   nb::sig("def led_to(self) -> bytes"))
      .def("changes", merge_changes,
           nb::sig("def changes(self, row: int, /) -> list[tuple[bytes | None, bytes]]"), kMergeChanges)
      .def("outcomes", merge_outcomes,
           nb::sig("def outcomes(self, row: int, /) -> list[tuple[int, int | None, "
                   "tuple[int, int, int] | None, tuple[int, int, int] | None, int]]"),
           kMergeOutcomes)
      .def("apply", merge_apply, kMergeApply);
  merge.attr("UNCHANGED") = static_cast<int>(Status::unchanged);
  merge.attr("ACCEPTED") = static_cast<int>(Status::accepted);
  merge.attr("OVERFLOW") = static_cast<int>(Status::overflow);
  merge.attr("EXCESSIVE") = static_cast<int>(Status::excessive);
  merge.attr("REPEATED") = static_cast<int>(Status::repeated);
  merge.attr("HASTY") = static_cast<int>(Status::hasty);
  merge.attr("SUSPECT") = static_cast<int>(Status::suspect);
  merge.attr("CROWDED") = static_cast<int>(Status::crowded);

  PyDateTime_IMPORT;
  if (PyDateTimeAPI == nullptr) throw nb::python_error();
  nb::class_<PyPositions>(module, "PositionMap", nb::is_final(), kPositionsDoc)
      .def("__init__", positions_init, "players"_a,
           nb::sig("def __init__(self, players: PlayerTable) -> None"))
      .def("__len__", [](PyPositions& p) { return p.map->size(); })
      .def("find", positions_find, nb::sig("def find(self, number: int, /) -> int | None"),
           kPositionsFind)
      .def("previous", positions_previous,
           nb::sig("def previous(self, numbers: Buffer, positions: Buffer, /) -> bytes"),
           kPositionsPrevious)
      .def("put_many", positions_put_many,
           nb::sig("def put_many(self, numbers: Buffer, positions: Buffer, /) -> bytes"),
           kPositionsPutMany)
      .def("forget", positions_forget, nb::sig("def forget(self, number: int, /) -> None"),
           kPositionsForget)
      .def("items", positions_items, nb::sig("def items(self) -> tuple[bytes, bytes]"),
           kPositionsItems)
      .def_prop_ro("nbytes", [](PyPositions& p) { return p.map->nbytes(); }, kPositionsNbytes);

  nb::class_<PyLists>(module, "PlayerLists", nb::is_final(), kListsDoc)
      .def("__init__", lists_init, "players"_a,
           nb::sig("def __init__(self, players: PlayerTable) -> None"))
      .def("find", lists_find, nb::sig("def find(self, number: int, /) -> bytes"), kListsFind)
      .def("add", lists_add, nb::sig("def add(self, item: int, numbers: Buffer, /) -> None"),
           kListsAdd)
      .def("remove", lists_remove,
           nb::sig("def remove(self, item: int, numbers: Buffer, /) -> None"), kListsRemove)
      .def("forget", lists_forget, nb::sig("def forget(self, number: int, /) -> None"),
           kListsForget)
      .def_prop_ro("nbytes", [](PyLists& l) { return l.lists->nbytes(); }, kListsNbytes);

  nb::class_<RecordReader>(module, "RecordReader", nb::is_final(), kReaderDoc)
      .def("__init__", reader_init, nb::kw_only(), "tied"_a = 1, "descending"_a = 1,
           "last_wins"_a = false,
           nb::sig("def __init__(self, *, tied: int = 1, descending: int = 1, "
                   "last_wins: bool = False) -> None"))
      .def("read", &RecordReader::read,
           nb::sig("def read(self, record: bytes, /) -> tuple[int, int | None, datetime, int]"),
           kReaderRead)
      .def("columns", &RecordReader::columns,
           nb::sig("def columns(self, records: Buffer, /) -> tuple[bytes, bytes, bytes, bytes]"),
           kReaderColumns)
      .def("pack", &RecordReader::pack,
           nb::sig("def pack(self, scores: Buffer, subscores: Buffer, times: Buffer, "
                   "versions: Buffer, /) -> bytes"),
           kReaderPack)
      .def("digest_rows", &RecordReader::digest_rows,
           nb::sig("def digest_rows(self, numbers: Buffer, records: Buffer, /) -> bytes"),
           kReaderDigestRows);

  nb::class_<RankColumns>(module, "RankColumns", nb::is_final(), kRanksDoc)
      .def("__init__", ranks_init, "tied"_a, "words"_a,
           nb::sig("def __init__(self, tied: int, words: int) -> None"))
      .def("add", &RankColumns::add,
           nb::sig("def add(self, records: Buffer, /) -> tuple[bytes, bytes]"), kRanksAdd);

  module.def("pack_card", pack_card, "entries"_a, "words"_a, "version"_a,
             nb::sig("def pack_card(entries: bytes, words: int, version: int) -> bytes"), kPackCard);
  nb::class_<BestCards>(module, "BestCards", nb::is_final(), kBestCardsDoc)
      .def(nb::init<nb::handle, nb::handle, nb::handle, bool>(), "cards"_a, nb::kw_only(), "tied"_a,
           "descending"_a, "last_wins"_a,
           nb::sig("def __init__(self, cards: Sequence[bytes | None], *, tied: int, descending: int, "
                   "last_wins: bool) -> None"))
      .def("decide", &BestCards::decide, "submissions"_a, "cards_of"_a, "positions"_a, "stops"_a,
           "tells"_a,
           nb::sig("def decide(self, submissions: Sequence[Any], cards_of: dict[str, int], "
                   "positions: Sequence[int], stops: Sequence[bytes], tells: bool)"
                   " -> tuple[bytes, list[list[tuple[int, int | None]]] | None]"),
           kBestCardsDecide)
      .def("changed", &BestCards::changed,
           nb::sig("def changed(self) -> list[tuple[int, int, bytes]]"), kBestCardsChanged)
      .def("periods", &BestCards::periods, nb::sig("def periods(self) -> set[bytes]"),
           kBestCardsPeriods);
  nb::class_<CardMoves>(module, "CardMoves", nb::is_final(), kMovesDoc)
      .def(nb::init<nb::handle, nb::handle, bool>(), nb::kw_only(), "words"_a, "order"_a, "packs"_a,
           nb::sig("def __init__(self, *, words: int, order: int, packs: bool) -> None"))
      .def("add", &CardMoves::add,
           nb::sig("def add(self, id: str, version: int, entries: bytes, since: int, before: bytes, "
                   "most: int, /) -> tuple[bool, int, int]"),
           kMovesAdd)
      .def("ask", &CardMoves::ask,
           nb::sig("def ask(self, id: str, periods: Sequence[bytes], before: bytes, after: bytes, "
                   "counted: int, by_member: bool, /) -> None"),
           kMovesAsk)
      .def("arguments", &CardMoves::arguments, nb::sig("def arguments(self) -> list[bytes]"),
           kMovesArguments)
      .def_prop_ro("nbytes", &CardMoves::nbytes, kMovesNbytes);
  module.def("card_periods", card_periods, "cards"_a, "words"_a,
             nb::sig("def card_periods(cards: Sequence[bytes], words: int) -> set[bytes]"), kCardPeriods);
  nb::class_<CardColumns>(module, "CardColumns", nb::is_final(), kColumnsDoc)
      .def(nb::init<nb::handle, nb::handle>(), nb::kw_only(), "words"_a, "periods"_a,
           nb::sig("def __init__(self, *, words: int, periods: Sequence[bytes]) -> None"))
      .def("add", &CardColumns::add, nb::sig("def add(self, cards: Sequence[bytes], /) -> bytes"),
           kColumnsAdd)
      .def("stops", &CardColumns::stops, nb::sig("def stops(self) -> list[bytes]"), kColumnsStops)
      .def("gather", &CardColumns::gather,
           nb::sig("def gather(self, stops: Sequence[bytes], /) -> tuple[bytes, bytes]"), kColumnsGather);

  module.def("leaf_hashes", leaf_hashes, "rows"_a, "routes"_a, "tails"_a, "others"_a,
             nb::sig("def leaf_hashes(rows: bytes, routes: dict[int, bytes], tails: dict[int, bytes], "
                     "others: list[tuple[int, bytes]]) -> tuple[bytes, bytes]"),
             kLeafHashes);
  module.def("tree_hash", tree_hash, nb::sig("def tree_hash(hashes: bytes, /) -> bytes"), kTreeHash);
  module.def("sha256", hash_quickly, nb::sig("def sha256(data: bytes, /) -> bytes"), kSha256);
  module.def("_sha256_plain", hash_plainly, nb::sig("def _sha256_plain(data: bytes, /) -> bytes"),
             kSha256Plain);

  module.def("finish", finish,
             nb::sig("def finish(coroutine: Coroutine[Any, Any, T], "
                     "otherwise: Callable[[Coroutine[Any, Any, T], Any], T], /) -> T"),
             kFinish);
  module.def(
      "_fail_allocations_after",
      [](nb::handle count) { allocations_left.store(to_int64(count, "count")); },
      nb::sig("def _fail_allocations_after(count: int, /) -> None"), kFailAllocationsAfter);
}

}  // namespace toprung
