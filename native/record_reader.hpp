// RecordReader: what a record says, as Python's objects; and what many say, as packed columns.
//
// Every standing of every answer is read from a record. Unpacking it, undoing the encoding that makes
// its words comparable, and building a datetime take Python longer than finding the entry; here they
// take a tenth of that.
#pragma once

#include "python.hpp"
#include "record_columns.hpp"

#include <datetime.h>

namespace toprung {

struct Date {
  int year;
  int month;
  int day;
};

// The date of a day since 1970-01-01 that is not before it. Years are counted from March, so that the
// leap day is the last of its year, and in eras of 400 years, which all have as many days.
inline Date date_of(i64 day) noexcept {
  constexpr i64 kEraDays = 146'097;
  constexpr i64 kDaysBefore1970 = 719'468;  // since 0000-03-01
  const i64 since = day + kDaysBefore1970;
  const i64 era = since / kEraDays;
  const i64 of_era = since % kEraDays;
  const i64 year = (of_era - of_era / 1'460 + of_era / 36'524 - of_era / 146'096) / 365;
  const i64 of_year = of_era - (365 * year + year / 4 - year / 100);
  const i64 month = (5 * of_year + 2) / 153;  // March is 0
  const bool turned = month >= 10;
  return {static_cast<int>(era * 400 + year + turned), static_cast<int>(month + (turned ? -9 : 3)),
          static_cast<int>(of_year - (153 * month + 2) / 5 + 1)};
}

// Microseconds since 1970 as an aware datetime in UTC; none before it or after the year 9999.
inline nb::object to_datetime(i64 microseconds) {
  constexpr i64 kSecond = 1'000'000;
  constexpr i64 kDay = 86'400 * kSecond;
  constexpr i64 kEnd = 2'932'897 * kDay;  // 10000-01-01
  if (microseconds < 0 || microseconds >= kEnd) {
    throw nb::value_error("the record's time is out of range");
  }
  const Date date = date_of(microseconds / kDay);
  const i64 of_day = microseconds % kDay;
  const int second = static_cast<int>(of_day / kSecond);
  return stolen(PyDateTimeAPI->DateTime_FromDateAndTime(
      date.year, date.month, date.day, second / 3600, second / 60 % 60, second % 60,
      static_cast<int>(of_day % kSecond), PyDateTime_TimeZone_UTC, PyDateTimeAPI->DateTimeType));
}

// Records of one board: score, a subscore if two words are tied, time, version.
class RecordReader {
 public:
  explicit RecordReader(const RecordCodec& codec) : codec_(codec) {}

  nb::object read(nb::handle record) const {
    u64 words[kWordsMax];
    const unsigned tied = codec_.tied();
    read_record(record, Shape{codec_.words(), tied, tied}, words);
    nb::object subscore = tied == 2 ? to_signed(codec_.subscore(words[1])) : nb::none();
    return to_tuple(to_signed(codec_.score(words[0])), std::move(subscore),
                    to_datetime(codec_.time(words[tied])), to_int(words[tied + 1]));
  }

  nb::object columns(nb::handle value) const {
    const RecordsArg records(value, record_bytes());
    const std::size_t count = records.size();
    BytesOut scores(count * 8), subscores(count * 8), times(count * 8), versions(count * 8);
    const ColumnsOut out{scores.data(), subscores.data(), times.data(), versions.data()};
    over_rows(count, [&] { read_columns(codec_, records.data(), count, out); });
    return to_tuple(scores.take(), subscores.take(), times.take(), versions.take());
  }

  nb::object pack(nb::handle scores_value, nb::handle subscores_value, nb::handle times_value,
                  nb::handle versions_value) const {
    const ColumnArg scores(scores_value, "scores");
    const ColumnArg subscores(subscores_value, "subscores");
    const ColumnArg times(times_value, "times");
    const ColumnArg versions(versions_value, "versions");
    const std::size_t count = scores.size();
    if (subscores.size() != count || times.size() != count || versions.size() != count) {
      throw nb::value_error("columns must be equally long");
    }
    BytesOut records(count * record_bytes());
    const ColumnsIn in{scores.data(), subscores.data(), times.data(), versions.data()};
    over_rows(count, [&] { pack_columns(codec_, in, count, records.data()); });
    return records.take();
  }

  nb::object digest_rows(nb::handle numbers_value, nb::handle records_value) const {
    const ColumnArg numbers(numbers_value, "numbers");
    const RecordsArg records(records_value, record_bytes());
    const std::size_t count = numbers.size();
    if (records.size() != count) {
      throw nb::value_error("records must hold one record for each number");
    }
    BytesOut rows(count * kDigestRowBytes);
    over_rows(count, [&] {
      write_digest_rows(codec_, numbers.data(), records.data(), count, rows.data());
    });
    return rows.take();
  }

 private:
  std::size_t record_bytes() const noexcept { return std::size_t{codec_.words()} * 8; }
  static nb::object to_signed(i64 value) { return stolen(PyLong_FromLongLong(value)); }

  RecordCodec codec_;
};

// Where rows of a ladder rank, when they come in its order.
class RankColumns {
 public:
  RankColumns(unsigned tied, unsigned words) : count_(tied, words) {}

  // Counts on a copy: without the GIL another thread may come in, and must find a whole one.
  nb::object add(nb::handle value) {
    const RecordsArg records(value, count_.record_bytes());
    const std::size_t rows = records.size();
    BytesOut competition(rows * 8), dense(rows * 8);
    RankCount count = count_;
    over_rows(rows, [&] {
      count.add(records.data(), rows, competition.data(), dense.data());
    });
    nb::object ranks = to_tuple(competition.take(), dense.take());
    count_ = count;
    return ranks;
  }

 private:
  RankCount count_;
};

}  // namespace toprung
