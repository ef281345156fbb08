// Records in columns: what many records say, as arrays of plain numbers, and back.
//
// A whole ladder is settled and archived this way. Touching no Python object, a row takes a few
// nanoseconds; as a tuple of Python's integers it takes a thousand.
#pragma once

#include <stdexcept>

#include "ranked_set.hpp"
#include "words.hpp"

namespace toprung {

// How the words of a record hold its numbers: score, a subscore if two words are tied, time, version.
class RecordCodec {
 public:
  RecordCodec(unsigned tied, u32 descending, bool last_wins)
      : tied_(tied),
        flips_{(descending & 1) != 0 ? kAll : 0, (descending & 2) != 0 ? kAll : 0,
               last_wins ? kAll : 0} {}

  unsigned tied() const noexcept { return tied_; }
  unsigned words() const noexcept { return tied_ + 2; }

  i64 score(u64 word) const noexcept { return static_cast<i64>(word ^ flips_[0] ^ kSign); }
  i64 subscore(u64 word) const noexcept { return static_cast<i64>(word ^ flips_[1] ^ kSign); }
  i64 time(u64 word) const noexcept { return static_cast<i64>(word ^ flips_[2] ^ kSign); }

  u64 score_word(i64 score) const noexcept { return static_cast<u64>(score) ^ flips_[0] ^ kSign; }
  u64 subscore_word(i64 value) const noexcept { return static_cast<u64>(value) ^ flips_[1] ^ kSign; }
  u64 time_word(i64 time) const noexcept { return static_cast<u64>(time) ^ flips_[2] ^ kSign; }

 private:
  static constexpr u64 kAll = ~u64{0};
  static constexpr u64 kSign = u64{1} << 63;

  unsigned tied_;
  u64 flips_[3];  // of score, subscore and time: all bits where more, or later, is better
};

struct RecordValues {
  i64 score;
  i64 subscore;  // 0 where one word is tied
  i64 time;
  i64 version;
};

// The records, one after the other. Versions that are no i64 are an error, seen when all are read: a
// branch less in each row.
template <class Take>
void each_record(const RecordCodec& codec, const u8* records, std::size_t count, Take take) {
  const unsigned tied = codec.tied();
  i64 signs = 0;
  for (std::size_t i = 0; i < count; ++i, records += 8 * codec.words()) {
    const i64 subscore = tied == 1 ? 0 : codec.subscore(big_endian_word(records + 8));
    const i64 version = static_cast<i64>(big_endian_word(records + 8 * (tied + 1)));
    signs |= version;
    take(i, RecordValues{codec.score(big_endian_word(records)), subscore,
                         codec.time(big_endian_word(records + 8 * tied)), version});
  }
  if (signs < 0) throw std::invalid_argument("a record's version does not fit 63 bits");
}

// Arrays in memory that need not be aligned: the inside of bytes objects.
inline i64 read_i64(const u8* column, std::size_t i) noexcept {
  return static_cast<i64>(read64(column + 8 * i));
}
inline void write_i64(i64 value, u8* column, std::size_t i) noexcept {
  std::memcpy(column + 8 * i, &value, 8);
}

struct ColumnsOut {
  u8* scores;
  u8* subscores;
  u8* times;
  u8* versions;
};

inline void read_columns(const RecordCodec& codec, const u8* records, std::size_t count,
                         const ColumnsOut& out) {
  each_record(codec, records, count, [&](std::size_t i, const RecordValues& values) {
    write_i64(values.score, out.scores, i);
    write_i64(values.subscore, out.subscores, i);
    write_i64(values.time, out.times, i);
    write_i64(values.version, out.versions, i);
  });
}

struct ColumnsIn {
  const u8* scores;
  const u8* subscores;  // not looked at where one word is tied
  const u8* times;
  const u8* versions;
};

inline void pack_columns(const RecordCodec& codec, const ColumnsIn& in, std::size_t count, u8* out) {
  const unsigned tied = codec.tied();
  i64 signs = 0;
  for (std::size_t i = 0; i < count; ++i, out += 8 * codec.words()) {
    const i64 version = read_i64(in.versions, i);
    signs |= version;
    write_word(codec.score_word(read_i64(in.scores, i)), out);
    if (tied == 2) write_word(codec.subscore_word(read_i64(in.subscores, i)), out + 8);
    write_word(codec.time_word(read_i64(in.times, i)), out + 8 * tied);
    write_word(static_cast<u64>(version), out + 8 * (tied + 1));
  }
  if (signs < 0) throw std::invalid_argument("a version must not be negative");
}

inline constexpr std::size_t kDigestRowBytes = 40;

// What the digest of a period is made of: see toprung/domain/digest.py.
inline void write_digest_rows(const RecordCodec& codec, const u8* numbers, const u8* records,
                              std::size_t count, u8* out) {
  each_record(codec, records, count, [&](std::size_t i, const RecordValues& values) {
    u8* const row = out + i * kDigestRowBytes;
    write_word(read64(numbers + 8 * i), row);
    write_word(static_cast<u64>(values.score), row + 8);
    write_word(static_cast<u64>(values.subscore), row + 16);
    write_word(static_cast<u64>(values.time), row + 24);
    write_word(static_cast<u64>(values.version), row + 32);
  });
}

// Where the rows of one ladder rank, from its first row on. Plain data: a copy that was taken before
// rows were added is the state before them.
class RankCount {
 public:
  RankCount(unsigned tied, unsigned words) : tied_bytes_(8 * tied), record_bytes_(8 * words) {}

  std::size_t record_bytes() const noexcept { return record_bytes_; }

  void add(const u8* records, std::size_t count, u8* competition, u8* dense) noexcept {
    for (std::size_t i = 0; i < count; ++i, records += record_bytes_, ++seen_) {
      if (seen_ == 0 || std::memcmp(records, last_, tied_bytes_) != 0) {
        std::memcpy(last_, records, tied_bytes_);
        before_ = seen_;
        ++groups_;
      }
      write_i64(before_ + 1, competition, i);
      write_i64(groups_, dense, i);
    }
  }

 private:
  std::size_t tied_bytes_;
  std::size_t record_bytes_;
  u8 last_[8 * kWordsMax] = {};  // the tied words of the last row
  i64 seen_ = 0;
  i64 before_ = 0;  // rows before the last row's tie group
  i64 groups_ = 0;  // tie groups until the last row's
};

}  // namespace toprung
