// RecordReader: what a record says, as Python's objects.
//
// Every standing of every answer is read from a record. Unpacking it, undoing the encoding that makes
// its words comparable, and building a datetime take Python longer than finding the entry; here they
// take a tenth of that.
#pragma once

#include "python.hpp"

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
  RecordReader(unsigned tied, u32 descending, bool last_wins)
      : shape_{tied + 2, tied, tied},
        flips_{(descending & 1) != 0 ? kAll : 0, (descending & 2) != 0 ? kAll : 0,
               last_wins ? kAll : 0} {}

  nb::object read(nb::handle record) const {
    u64 words[kWordsMax];
    read_record(record, shape_, words);
    const bool has_subscore = shape_.tied == 2;
    nb::object subscore = has_subscore ? to_signed(number(words[1], 1)) : nb::none();
    return to_tuple(to_signed(number(words[0], 0)), std::move(subscore),
                    to_datetime(number(words[shape_.tied], 2)), to_int(words[shape_.tied + 1]));
  }

 private:
  static constexpr u64 kAll = ~u64{0};
  static constexpr u64 kSign = u64{1} << 63;

  i64 number(u64 word, unsigned which) const noexcept {
    return static_cast<i64>(word ^ flips_[which] ^ kSign);
  }
  static nb::object to_signed(i64 value) { return stolen(PyLong_FromLongLong(value)); }

  Shape shape_;
  u64 flips_[3];  // of score, subscore and time: all bits where more, or later, is better
};

}  // namespace toprung
