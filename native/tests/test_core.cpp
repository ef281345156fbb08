// Random operations on the core against models that are obviously right, with every invariant checked
// along the way. Plain C++, run under sanitizers by scripts/sanitize. Usage: native_tests [seed [rounds]]
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "../merge.hpp"
#include "../record_columns.hpp"
#include "../tree.hpp"

using namespace toprung;

namespace {

#define REQUIRE(condition)                                                       \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
      std::exit(1);                                                              \
    }                                                                            \
  } while (false)

using Random = std::mt19937_64;
using Words = std::vector<u64>;

u64 below(Random& random, u64 limit) { return random() % limit; }

IdView view(const std::string& id) {
  return {reinterpret_cast<const u8*>(id.data()), static_cast<u32>(id.size())};
}

u32 intern(PlayerTable& table, const std::string& id) { return table.intern(view(id), table.tag_of(view(id))); }
u32 find(const PlayerTable& table, const std::string& id) { return table.find(view(id), table.tag_of(view(id))); }

std::string random_id(Random& random) {
  const std::size_t length = below(random, 8) == 0 ? 1 + below(random, 256) : 1 + below(random, 6);
  std::string id(length, '\0');
  for (char& c : id) c = static_cast<char>(below(random, 4) == 0 ? random() : 'a' + below(random, 3));
  return id;
}

template <class Source>
Vector<u8> dump_of(const Source& source) {
  Vector<u8> dump(source.dump_bytes(), u8{0xA5});  // what is not written shows
  source.write_dump(dump.data(), dump.size(), [] {});
  seal_dump(dump.data(), dump.size());
  return dump;
}

template <class Work>
bool throws(Work work) {
  try {
    work();
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

// ---- the table -----------------------------------------------------------------------------------

void test_table(u64 seed) {
  Random random(seed);
  PlayerTable table(500);
  std::map<std::string, u32> known;
  std::vector<std::string> ids;  // by number; empty = forgotten
  for (int step = 0; step < 1500; ++step) {
    const std::string id = random_id(random);
    const u64 choice = below(random, 100);
    if (choice < 80) {
      const auto found = known.find(id);
      if (found == known.end() && ids.size() == 500) {
        REQUIRE(throws([&] { intern(table, id); }));
        continue;
      }
      const u32 number = intern(table, id);
      REQUIRE(number == (found == known.end() ? ids.size() : found->second));
      if (found == known.end()) {
        known[id] = number;
        ids.push_back(id);
      }
    } else if (choice < 95 && !ids.empty()) {
      const u32 number = static_cast<u32>(below(random, ids.size()));
      table.forget(number, false);
      known.erase(ids[number]);
      ids[number].clear();
    } else {
      const std::size_t limit = ids.size() - below(random, ids.size() / 4 + 1);
      table.truncate(static_cast<u32>(limit));
      for (; ids.size() > limit; ids.pop_back()) known.erase(ids.back());
    }
    REQUIRE(table.limit() == ids.size());
    REQUIRE(table.present() == known.size());
    const auto entry = known.find(id);
    REQUIRE(find(table, id) == (entry == known.end() ? kNone : entry->second));
    if (step % 50 == 0) table.check();
  }
  Vector<i64> numbers(ids.size());
  std::iota(numbers.begin(), numbers.end(), i64{0});
  Vector<i32> offsets;
  Vector<u8> bytes;
  table.copy_ids(reinterpret_cast<const u8*>(numbers.data()), numbers.size(), offsets, bytes, [] {});
  REQUIRE(offsets.size() == ids.size() + 1 && static_cast<std::size_t>(offsets.back()) == bytes.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    REQUIRE(std::equal(bytes.begin() + offsets[i], bytes.begin() + offsets[i + 1], view(ids[i]).bytes,
                       view(ids[i]).bytes + ids[i].size()));
  }
  const Vector<u8> dump = dump_of(table);
  PlayerTable loaded(500);
  loaded.load(dump.data(), dump.size());
  loaded.check();
  REQUIRE(dump_of(loaded) == dump);
  for (int i = 0; i < 200; ++i) {
    Vector<u8> damaged = dump;
    damaged[below(random, damaged.size())] ^= static_cast<u8>(1u << below(random, 8));
    PlayerTable other;
    REQUIRE(throws([&] { other.load(damaged.data(), damaged.size()); }));
    PlayerTable shorter;
    REQUIRE(throws([&] { shorter.load(dump.data(), below(random, dump.size())); }));
  }
}

// ---- ranked sets ---------------------------------------------------------------------------------

struct Model {
  const PlayerTable& table;
  Shape shape;
  std::map<u32, Words> records;

  bool less(u32 a, u32 b) const {
    const Words& x = records.at(a);
    const Words& y = records.at(b);
    for (unsigned w = 0; w < shape.order; ++w) {
      if (x[w] != y[w]) return x[w] < y[w];
    }
    return compare_ids(table.id_of(a), table.id_of(b)) < 0;
  }
  std::vector<u32> sorted() const {
    std::vector<u32> numbers;
    for (const auto& [number, record] : records) numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end(), [&](u32 a, u32 b) { return less(a, b); });
    return numbers;
  }
  Words prefix(u32 number) const {
    const Words& record = records.at(number);
    return Words(record.begin(), record.begin() + shape.tied);
  }
};

// Some rows as they are copied out, to places that are not aligned, and where they rank.
void compare_columns(const RankedSet& set, const Model& model, u64 start, u64 count) {
  const std::vector<u32> sorted = model.sorted();
  const std::size_t width = set.shape().words * 8;
  std::vector<u8> numbers(count * 8 + 1);
  std::vector<u8> records(count * width + 1);
  set.copy_rows(start, count, &numbers[1], &records[1], [] {});
  std::vector<u8> ranks(count * 16);
  RankCount counted(set.shape().tied, set.shape().words);
  counted.add(&records[1], count, ranks.data(), ranks.data() + count * 8);
  for (u64 i = 0; i < count; ++i) {
    const u32 number = sorted[start + i];
    REQUIRE(read_i64(&numbers[1], i) == i64{number});
    for (unsigned w = 0; w < set.shape().words; ++w) {
      REQUIRE(big_endian_word(&records[1 + i * width + w * 8]) == model.records.at(number)[w]);
    }
    if (start != 0) continue;
    const PlaceOf place = set.place(number);
    REQUIRE(read_i64(ranks.data(), i) == static_cast<i64>(place.tied_before) + 1);
    REQUIRE(read_i64(ranks.data() + count * 8, i) == static_cast<i64>(place.distinct_before) + 1);
  }
}

void compare(const RankedSet& set, const Model& model) {
  set.check();
  const std::vector<u32> sorted = model.sorted();
  REQUIRE(set.size() == sorted.size());
  const Rows rows = set.rows(0, ~u64{0});
  REQUIRE(std::equal(sorted.begin(), sorted.end(), rows.numbers.begin(), rows.numbers.end()));
  compare_columns(set, model, 0, set.size());
  compare_columns(set, model, set.size() / 3, set.size() / 2);
  u64 group = 0;
  u64 distinct = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && model.prefix(sorted[i]) != model.prefix(sorted[i - 1])) {
      group = i;
      ++distinct;
    }
    const PlaceOf place = set.place(sorted[i]);
    REQUIRE(place.found && place.offset == i && place.tied_before == group);
    REQUIRE(place.distinct_before == distinct);
    std::size_t until = i + 1;
    while (until < sorted.size() && model.prefix(sorted[until]) == model.prefix(sorted[i])) ++until;
    REQUIRE(place.tied_until == until);
    REQUIRE(set.rows(group, i + 1).tied_until == until);
    const Words& record = model.records.at(sorted[i]);
    REQUIRE(std::equal(record.begin(), record.end(), place.record));
    REQUIRE(set.count_before(record.data(), model.table.id_of(sorted[i])) == i);
    REQUIRE(set.distinct_before(record.data()) == distinct);
    REQUIRE(set.offset(sorted[i]) == static_cast<i64>(i));
  }
}

void test_set(u64 seed) {
  Random random(seed);
  PlayerTable table;
  const u32 players = static_cast<u32>(std::vector<u64>{3, 60, 400, 3000}[below(random, 4)]);
  while (table.limit() < players) intern(table, random_id(random));
  Shape shape;
  shape.words = 1 + static_cast<unsigned>(below(random, 4));
  shape.order = 1 + static_cast<unsigned>(below(random, shape.words));
  shape.tied = 1 + static_cast<unsigned>(below(random, shape.order));
  const u64 span = std::vector<u64>{2, 30, 100000, ~u64{0}}[below(random, 4)];
  const auto record = [&] {
    Words words(shape.words);
    for (u64& word : words) word = below(random, span);
    return words;
  };
  const auto set = RankedSet::make(table, shape);
  Model model{table, shape, {}};
  u64 old[kWordsMax];
  for (int phase = 0; phase < 6; ++phase) {
    const u64 removals = below(random, 100);
    for (u32 step = 0; step < players; ++step) {
      const u32 number = static_cast<u32>(below(random, players));
      const auto known = model.records.find(number);
      const bool had = known != model.records.end();
      if (below(random, 100) < removals) {
        REQUIRE(set->remove(number, old) == had);
        if (had) model.records.erase(known);
      } else {
        const Words fresh = record();
        REQUIRE(set->put(number, fresh.data(), old) == had);
        if (had) REQUIRE(std::equal(known->second.begin(), known->second.end(), old));
        model.records[number] = fresh;
      }
    }
    compare(*set, model);
    std::vector<u32> numbers;
    std::vector<u64> records;
    for (u32 i = 0; i < players / 2; ++i) {
      numbers.push_back(static_cast<u32>(below(random, players)));
      const Words fresh = record();
      records.insert(records.end(), fresh.begin(), fresh.end());
      model.records[numbers.back()] = fresh;
    }
    set->reserve(numbers.size(), numbers.size());
    set->put_many(numbers.data(), records.data(), numbers.size());
    set->trim();
    compare(*set, model);
  }

  const Vector<u8> dump = dump_of(*set);
  const auto loaded = RankedSet::make(table, shape);
  loaded->load(dump.data(), dump.size(), open_dump(dump.data(), dump.size(), kSetMagic));
  compare(*loaded, model);
  std::vector<u32> numbers;
  std::vector<u64> records;
  for (const auto& [number, words] : model.records) {
    numbers.push_back(number);
    records.insert(records.end(), words.begin(), words.end());
  }
  const auto built = RankedSet::make(table, shape);
  built->build(numbers.data(), records.data(), numbers.size());
  compare(*built, model);
  REQUIRE(dump_of(*built) == dump);
  set->clear();
  set->check();
}

// Sequential inserts from either end leave full leaves behind, and draining them works.
void test_sequences() {
  PlayerTable table;
  const u32 players = 5000;
  for (u32 i = 0; i < players; ++i) intern(table, "p" + std::to_string(i));
  for (const bool upwards : {true, false}) {
    Tree<1> set(table, {1, 1, 1});
    Model model{table, {1, 1, 1}, {}};
    u64 old[kWordsMax];
    for (u32 i = 0; i < players; ++i) {
      const u64 word = upwards ? i : players - i;
      set.put(i, &word, old);
      model.records[i] = {word};
    }
    compare(set, model);
    REQUIRE(set.nbytes() < players * 20);
    for (u32 i = 0; i < players; ++i) {
      REQUIRE(set.remove(upwards ? i : players - 1 - i, old));
      if (i % 250 == 0) set.check();
    }
    set.check();
  }
}

// Whatever allocation fails, the operation has no effect and the structure stays whole.
void test_exhaustion(u64 seed) {
  Random random(seed);
  PlayerTable table;
  Tree<3> set(table, {3, 2, 1});
  u64 old[kWordsMax];
  for (u32 round = 0; round < 400; ++round) {
    const std::string id = random_id(random).substr(0, 200) + std::to_string(round);
    const u64 words[3] = {below(random, 50), random(), round};
    for (i64 n = 0;; ++n) {
      const u64 size = set.size();
      const u32 limit = table.limit();
      allocations_left = n;
      bool failed = false;
      try {
        set.put(intern(table, id), words, old);
      } catch (const std::bad_alloc&) {
        failed = true;
      }
      allocations_left = -1;
      if (!failed) break;
      REQUIRE(set.size() == size && table.limit() - limit <= 1);
    }
    if (round % 20 == 0) {
      set.check();
      table.check();
    }
  }
}

// A writer in long batches, a reader that must never see half of a player's submission.
void test_readers_during_merge() {
  PlayerTable table;
  const u32 players = 2000;
  for (u32 i = 0; i < players; ++i) intern(table, "p" + std::to_string(i));
  const auto first = RankedSet::make(table, {3, 2, 1});
  const auto second = RankedSet::make(table, {3, 2, 1});
  std::atomic<bool> done{false};
  std::thread reader([&] {
    Random random(1);
    u64 a[kWordsMax];
    u64 b[kWordsMax];
    while (!done) {
      const u32 number = static_cast<u32>(below(random, players));
      const std::lock_guard held(table.gate.state);
      const bool in_first = first->find(number, a);
      REQUIRE(in_first == second->find(number, b));
      if (in_first) REQUIRE(std::equal(a, a + 3, b));
    }
  });
  Random random(2);
  u64 version = 1;
  for (int batch = 0; batch < 40; ++batch) {
    Vector<i64> rows;
    for (u32 i = 0; i < players; ++i) {
      rows.insert(rows.end(), {static_cast<i64>(below(random, players)), 0, batch, static_cast<i64>(below(random, 100))});
    }
    MergeOptions options;
    options.rule = Rule::add;
    options.first_version = version;
    version += players;
    const Vector<i64> copy = rows;
    Merge merge(&table, {first.get(), second.get()}, {{0, 1}}, {{1}}, {}, {}, std::move(rows), 1,
                options);
    merge.plan();
    merge.apply();
    for (std::size_t row = 0; row < merge.size(); ++row) {
      const PlaceOf place = second->place(static_cast<u32>(copy[row * 4]));
      const Merge::Outcome outcome = merge.outcome(row, 0);
      REQUIRE(merge.outcome_count(row) == 1 && outcome.total == second->size());
      REQUIRE(outcome.after->offset == place.offset && outcome.after->tied_before == place.tied_before);
    }
  }
  done = true;
  reader.join();
  first->check();
  second->check();
  REQUIRE(dump_of(*first) == dump_of(*second));
}

}  // namespace

int main(int argc, char** argv) {
  const u64 seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20261115;
  const u64 rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20;
  std::printf("native tests: seed %llu, %llu rounds\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(rounds));
  for (u64 round = 0; round < rounds; ++round) {
    test_table(seed + round);
    test_set(seed + round);
  }
  test_sequences();
  test_exhaustion(seed);
  test_readers_during_merge();
  std::puts("native tests: passed");
}
