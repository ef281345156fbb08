// What help() says and the doctests run: one sentence, the complexity, an example. In examples n is
// the size of the set, k the number of rows or players asked for, and a record is one word.
#pragma once

namespace toprung {

inline constexpr char kModuleDoc[] = R"(A player table and counted B+ trees over fixed-width records.

A record is `words` big-endian unsigned 64-bit words. A set is ordered by the first `order` words,
then by the player id's bytes; the first `tied` words decide who is tied. Offsets are 0-based.

One mutex per player table covers it and every set over it. Batch calls release the GIL.)";

// ---- PlayerTable ---------------------------------------------------------------------------------

inline constexpr char kTableDoc[] = R"(Every player id once, named by a number.

>>> players = PlayerTable()
>>> players.intern("ann"), players.intern(b"bob"), players.intern("ann")
(0, 1, 0)
>>> len(players), players.limit
(2, 2))";

inline constexpr char kTableIntern[] = R"(The number of an id, given to it now if it has none: O(1).

>>> PlayerTable().intern("ann")
0)";

inline constexpr char kTableInternMany[] = R"(The numbers of many ids as packed native u32, given where missing: O(k).

All of them or none: when memory or numbers run out, those given by this call are taken back.

>>> PlayerTable().intern_many(["ann", "bob", "ann"]).hex(" ", 4)
'00000000 01000000 00000000')";

inline constexpr char kTableNumber[] = R"(The number of an id, or None: O(1).

>>> players = PlayerTable()
>>> players.intern("ann"), players.number(b"ann"), players.number("bob")
(0, 0, None))";

inline constexpr char kTableNumbers[] = R"(The numbers of many ids as packed native u32, 2**32 - 1 where absent: O(k).

>>> PlayerTable().numbers(["ann"]).hex()
'ffffffff')";

inline constexpr char kTableId[] = R"(The id of a number, None once forgotten; IndexError if never given: O(1).

>>> players = PlayerTable()
>>> players.id(players.intern("ann"))
b'ann')";

inline constexpr char kTableIds[] = R"(The ids of many numbers, packed native i64: O(k).

Returns packed native i32 offsets, one more than numbers, and the bytes of all ids: that of the i-th
number lies between the offsets i and i + 1. A forgotten one is empty. All are of one moment. IndexError
if one was never given, OverflowError if the ids have 2 GiB or more.

>>> from array import array
>>> players = PlayerTable()
>>> _ = players.intern_many(["ann", "bob", "cy"])
>>> players.forget(1)
>>> offsets, ids = players.ids(array("q", [2, 1, 0]))
>>> array("i", offsets).tolist(), ids
([0, 2, 2, 5], b'cyann'))";

inline constexpr char kTableForget[] = R"(Wipes an id from memory; its number is never given again: O(sets over this table).

ValueError while a set still holds the player. A caller who has taken the player off all sets says so:
then it is O(1), and a set from which the player was not taken fails its `_check` and cannot be loaded.

>>> players = PlayerTable()
>>> players.forget(players.intern("ann"))
>>> players.id(0), players.number("ann"), players.intern("ann")
(None, None, 1))";

inline constexpr char kTableTruncate[] = R"(Takes back every number from `limit` on: O(numbers taken back).

ValueError while a set still holds one of them.

>>> players = PlayerTable()
>>> _ = players.intern_many(["ann", "bob"])
>>> players.truncate(1)
>>> players.number("bob"), players.intern("cy")
(None, 1))";

inline constexpr char kTableLimit[] = "The next number to be given: O(1).";
inline constexpr char kTableNbytes[] = "Bytes of memory in use: O(1).";

inline constexpr char kTableDump[] = R"(All ids with their numbers, holes included, under a checksum: O(n).

>>> players = PlayerTable()
>>> _ = players.intern_many(["ann", "bob"])
>>> PlayerTable.load(players.dump()).number("bob")
1)";

inline constexpr char kTableLoad[] = R"(A table from its dump; ValueError if it is damaged in any way: O(n).

>>> PlayerTable.load(PlayerTable().dump()[:-1])
Traceback (most recent call last):
    ...
ValueError: the dump is truncated)";

inline constexpr char kTableCheck[] = "RuntimeError unless every invariant holds: O(n).";

// ---- RankedSet -----------------------------------------------------------------------------------

inline constexpr char kSetDoc[] = R"(Players in the order of their records: a counted B+ tree.

Players are named by number (int) or id (str, bytes). Asking for a player that is not there is
answered with None; putting one that has no number is a KeyError.

>>> players = PlayerTable()
>>> _ = players.intern_many(["ann", "bob", "cy"])
>>> ladder = RankedSet(players, words=1)
>>> for player, score in ("ann", 7), ("bob", 3), ("cy", 7):
...     _ = ladder.put(player, score.to_bytes(8, "big"))
>>> ladder.offset("bob"), ladder.offset("ann"), ladder.offset("cy")
(0, 1, 2)
>>> "dan" in ladder, len(ladder)
(False, 3))";

inline constexpr char kSetPut[] = R"(Adds or replaces a player's record and returns the old one: O(log n).

>>> players = PlayerTable()
>>> _ = players.intern("ann")
>>> ladder = RankedSet(players, words=1)
>>> ladder.put("ann", bytes(8)), ladder.put(0, b"12345678")
(None, b'\x00\x00\x00\x00\x00\x00\x00\x00'))";

inline constexpr char kSetRemove[] = R"(Removes a player and returns its record, or None: O(log n).

>>> RankedSet(PlayerTable()).remove("ann"))";

inline constexpr char kSetFind[] = R"(A player's record, or None: O(1).

>>> RankedSet(PlayerTable()).find("ann"))";

inline constexpr char kSetOffset[] = R"(How many entries lie before the player's, or None: O(log n), without comparing keys.

>>> RankedSet(PlayerTable()).offset("ann"))";

inline constexpr char kSetPlace[] = R"(Where a player stands, or None: O(log n).

Returns (offset, entries before its tie group, distinct prefixes before it, entries before its end, size,
record).

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> for player in "ann", "bob":
...     _ = ladder.put(players.intern(player), b"12345678")
>>> ladder.place("bob")
(1, 0, 0, 2, 2, b'12345678'))";

inline constexpr char kSetAt[] = R"(The (number, id, record) at an offset; IndexError beyond the end: O(log n).

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> _ = ladder.put(players.intern("ann"), b"12345678")
>>> ladder.at(0)
(0, b'ann', b'12345678'))";

inline constexpr char kSetCountBefore[] = R"(How many entries lie before a key and id, whether or not they are there: O(log n).

Words left out of the key count as zero: the place where that prefix begins. The id may be one byte
longer than an id can be, so that `id + b"\\0"` is the place just after one.

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> _ = ladder.put(players.intern("ann"), b"12345678")
>>> ladder.count_before(b"12345678"), ladder.count_before(b"12345678", b"ann\0")
(0, 1))";

inline constexpr char kSetCountsBefore[] = R"(`count_before` of many keys, at one moment: O(k log n).

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> _ = ladder.put(players.intern("ann"), b"12345678")
>>> ladder.counts_before([b"12345678", b"12345679"])
[0, 1])";

inline constexpr char kSetDistinctBefore[] = R"(How many distinct tied prefixes lie before that of a key: O(log n).

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> for player in "ann", "bob":
...     _ = ladder.put(players.intern(player), b"12345678")
>>> ladder.distinct_before(b"99999999")
1)";

inline constexpr char kSetSlice[] = R"(The rows at offsets [start, stop), clipped to the set: O(log n + k).

Returns (start, size, entries before the first row's tie group, distinct prefixes before it, rows,
entries before the end of the last row's tie group).

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> _ = ladder.put(players.intern("ann"), b"12345678")
>>> ladder.slice(0, 10)
(0, 1, 0, 0, [(0, b'ann', b'12345678')], 1))";

inline constexpr char kSetExport[] = R"(The rows at offsets [start, stop), clipped to the set, in two columns: O(log n + k).

Returns the players' numbers as packed native i64, and the records one after the other; all are of one
moment. Many rows are copied without the GIL; changes wait until they are, other reads do not.

>>> from array import array
>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> for player, record in ("ann", b"22222222"), ("bob", b"11111111"), ("cy", b"33333333"):
...     _ = ladder.put(players.intern(player), record)
>>> numbers, records = ladder.export(0, 2)
>>> array("q", numbers).tolist(), records
([1, 0], b'1111111122222222'))";

inline constexpr char kSetFingerprint[] = R"(Bytes that are equal for equal first rows of sets of equal size: O(log n + k).

The size, the entries before the end of the last row's tie group, the number of rows, their records
and, between zeros, their ids.

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> for player in "ann", "bob", "cy":
...     _ = ladder.put(players.intern(player), b"12345678")
>>> ladder.fingerprint(2)
b'3 3 2 1234567812345678ann\x00bob')";

inline constexpr char kSetSliceAround[] = R"(A player's row with those above and below, or None: O(log n + k).

Near an end it moves so that above + below + 1 rows remain, if the set has as many.

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> for player in "ann", "bob", "cy", "dan":
...     _ = ladder.put(players.intern(player), b"12345678")
>>> [id for _, id, _ in ladder.slice_around("ann", 1, 1)[4]]
[b'ann', b'bob', b'cy'])";

inline constexpr char kSetSliceAt[] = R"(The `above` rows before a key and id and the `below` rows from it on: O(log n + k).

With full=True it moves near an end so that above + below rows remain, if the set has as many.

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> for player in "ann", "bob", "cy":
...     _ = ladder.put(players.intern(player), b"12345678")
>>> [id for _, id, _ in ladder.slice_at(b"12345678", b"bob", 1, 1)[4]]
[b'ann', b'bob'])";

inline constexpr char kSetOffsets[] = R"(The offsets of many players as packed native i64, -1 where missing: O(k log n).

Players come as a sequence, or as a buffer of packed u32 numbers.

>>> RankedSet(PlayerTable()).offsets(["ann"]).hex()
'ffffffffffffffff')";

inline constexpr char kSetPlaces[] = R"(The place of each of many players, None where missing: O(k log n).

>>> RankedSet(PlayerTable()).places(["ann"])
[None])";

inline constexpr char kSetBestOf[] = R"(How many of the packed u32 numbers are present, and the best of them: O(k log n).

Returns (how many are present, how many of those are no worse than the last of the best, the best): at
most `count`, best first, each as its id and its place, all at one moment.

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> ladder.put_many(players.intern_many(["ann", "bob", "cy"]), b"333333331111111122222222")
>>> ladder.best_of(players.numbers(["ann", "cy", "zoe"]), 1)
(2, 1, [(b'cy', (1, 1, 1, 2, 3, b'22222222'))]))";

inline constexpr char kSetPutMany[] = R"(Puts a record for each of the packed u32 numbers: O(k log n).

Readers may see part of it done; it cannot fail half-way.

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> ladder.put_many(players.intern_many(["ann", "bob"]), b"1234567812345678")
>>> len(ladder)
2)";

inline constexpr char kSetRemoveMany[] = R"(Removes those of the packed u32 numbers that are present and returns how many: O(k log n).

>>> RankedSet(PlayerTable()).remove_many(bytes(4))
0)";

inline constexpr char kSetBuild[] = R"(Fills an empty set: O(k) when the records come in order, else O(k log k).

ValueError when the set is not empty or a player comes twice.

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> ladder.build(players.intern_many(["ann", "bob"]), b"2345678912345678")
>>> ladder.offset("bob")
0)";

inline constexpr char kSetClear[] = R"(Removes everyone and gives the memory back: O(n).

>>> RankedSet(PlayerTable()).clear())";

inline constexpr char kSetDump[] = R"(All entries in order, players by number, under a checksum: O(n).

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> _ = ladder.put(players.intern("ann"), b"12345678")
>>> RankedSet.load(players, ladder.dump()).at(0)
(0, b'ann', b'12345678'))";

inline constexpr char kSetOrdered[] = R"(The order at one moment, without records: O(n).

Players as packed u32 numbers, best first; a bit for each that says whether it begins a tie group,
the lowest bit of each byte first; and the first words of the tie groups' records, as packed u64.

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=1)
>>> for player in "ann", "bob":
...     _ = ladder.put(players.intern(player), bytes(7) + b"x")
>>> ladder.ordered()
(b'\x00\x00\x00\x00\x01\x00\x00\x00', b'\x01', b'x\x00\x00\x00\x00\x00\x00\x00'))";

inline constexpr char kSetLoad[] = R"(A set from its dump over the table it was dumped with: O(n).

ValueError if the dump is damaged, out of order, or names players that the table does not have.

>>> RankedSet.load(PlayerTable(), b"")
Traceback (most recent call last):
    ...
ValueError: the dump is truncated)";

inline constexpr char kSetWords[] = "How many words a record has.";
inline constexpr char kSetOrder[] = "How many of them are compared.";
inline constexpr char kSetTied[] = "How many of them decide who is tied.";
inline constexpr char kSetPlayers[] = "The player table this set is over.";
inline constexpr char kSetNbytes[] = "Bytes of memory in use, the player table not included: O(1).";
inline constexpr char kSetCheck[] = "RuntimeError unless every invariant holds: O(n).";

// ---- Merge ---------------------------------------------------------------------------------------

inline constexpr char kMergeDoc[] = R"(A batch of submissions folded over sets, not yet visible; `apply` makes it so.

Rows are packed native i64: player number, route, time in microseconds, score, and a subscore when
two words are tied. Records are those words encoded best first, the time, and the row's version.
A row that improves by more than `max_increase` on its player's entry in the route's guard is refused;
`guards` names a set (or None) for each route, by default the first one of the route. `claims` is a
packed native i64 for each row, -1 for none: of rows with the same claim, those after the first that is
not refused are REPEATED and do nothing. `max_per`, an amount and microseconds, refuses rows that improve
faster, pro rata to the time since the entry was achieved: they are HASTY. `limits` is two packed i64 for
each row, whether it has a limit and which score that is: a row that improves its player's entry in the
guard to such a score or a better one is SUSPECT and does nothing; after `room` of them others are
CROWDED, which is refused. Planning k rows over routes of s sets is O(k * s), applying
them O(k * s * log n).

>>> from struct import pack, unpack
>>> players = PlayerTable()
>>> ann = players.intern("ann")
>>> ladder = RankedSet(players, words=3, order=2)
>>> rows = pack("=4q", ann, 0, 1000, 50) + pack("=4q", ann, 0, 2000, 25)
>>> merge = Merge("add", [[ladder]], rows, first_version=1)
>>> list(merge.statuses), unpack("=2q", merge.versions)
([1, 1], (1, 2))
>>> len(ladder), merge.apply(), len(ladder)
(0, 1, 1)
>>> score = ~int.from_bytes(ladder.find("ann")[:8], "big") + 2**63  # descending: inverted
>>> score
75)";

inline constexpr char kMergeStatuses[] = "One byte per row: UNCHANGED, ACCEPTED, OVERFLOW, EXCESSIVE or REPEATED.";
inline constexpr char kMergeVersions[] = "Packed native i64, one per row; 0 where it was refused or repeated.";
inline constexpr char kMergeLedTo[] =
    "Packed i64: the score in the guard that each row with a limit would lead to; empty without limits.";
inline constexpr char kMergeChanges[] = R"(For each set of a row's route its (record before or None, record after): O(sets).

They are as that row saw them, after the rows before it. A refused row has none.)";
inline constexpr char kMergeOutcomes[] = R"(What a row did on the watched sets of its route: O(sets).

For each the score after the row and the one before it (or None), what lay before the player until
the batch was planned (or None) and what does since it was applied (None before that), and then the
set's size (0 before that). What lies before is (entries, entries before the tie group, distinct
prefixes before the tie group). A refused row has no outcomes.

>>> players = PlayerTable()
>>> ladder = RankedSet(players, words=3, order=2)
>>> from array import array
>>> rows = array("q", [players.intern("ann"), 0, 1000, 50, players.intern("bob"), 0, 2000, 75])
>>> merge = Merge("add", [[ladder]], rows, first_version=1, watched=[[0]])
>>> merge.outcomes(0)
[(50, None, None, None, 0)]
>>> _ = merge.apply()
>>> merge.outcomes(0)
[(50, None, None, (1, 1, 1), 2)])";
inline constexpr char kMergeApply[] = R"(Writes all changed entries and returns how many: O(changed * log n).

No reader sees some sets of a player's submission without the others. RuntimeError, and no effect,
the second time or when a set or the table has changed since the merge was planned.)";

// ---- PositionMap ---------------------------------------------------------------------------------

inline constexpr char kPositionsDoc[] = R"(For each player a position in the journal: 8 bytes where most players have one, else 15 to 30.

>>> from array import array
>>> players = PlayerTable()
>>> ann, bob = players.intern("ann"), players.intern("bob")
>>> newest = PositionMap(players)
>>> rows = array("I", [ann, bob, ann]), array("q", [7, 8, 9])
>>> array("q", newest.previous(*rows)).tolist()
[0, 0, 7]
>>> array("I", newest.put_many(*rows)).tolist()
[0, 1]
>>> newest.find(ann), newest.find(bob), len(newest)
(9, 8, 2))";

inline constexpr char kPositionsFind[] = "The player's position, or None: O(1).";
inline constexpr char kPositionsPrevious[] = R"(For each row the position its player has before it, 0 for none, as packed native i64: O(k).

Rows are packed native u32 numbers and i64 positions. A row sees those before it, but for those whose
position is 0. Nothing changes.)";
inline constexpr char kPositionsPutMany[] = R"(Gives players these positions: O(k), and O(n) when the map grows.

Returns the packed numbers of the players who had none before. Rows are those of `previous`; a position of 0 is passed over.)";
inline constexpr char kPositionsForget[] = "Removes a player's position, if there is one: O(1).";
inline constexpr char kPositionsItems[] =
    "Packed native u32 numbers and i64 positions of all, in no particular order: O(n).";
inline constexpr char kPositionsNbytes[] = "Bytes of memory.";

// ---- PlayerLists ---------------------------------------------------------------------------------

inline constexpr char kListsDoc[] = R"(For each player a few items below 2**31: 4 bytes for the first one, 8 for each of several.

>>> from array import array
>>> players = PlayerTable()
>>> ann, bob = players.intern("ann"), players.intern("bob")
>>> boards = PlayerLists(players)
>>> boards.add(7, array("I", [ann, bob]))
>>> boards.add(9, array("I", [ann]))
>>> [array("I", boards.find(number)).tolist() for number in (ann, bob)]
[[9, 7], [7]])";

inline constexpr char kListsFind[] = "The player's items as packed native u32, the newest first: O(k).";
inline constexpr char kListsAdd[] = R"(Gives an item to players who do not have it yet: O(k), and O(n) when the map grows.

Whether they have it is not looked up. Numbers are packed native u32.)";
inline constexpr char kListsRemove[] =
    "Takes an item away from those of the players who have it: O(k), k items of these players.";
inline constexpr char kListsForget[] = "Takes all items away from a player: O(k).";
inline constexpr char kListsNbytes[] = "Bytes of memory.";

// ---- RecordReader --------------------------------------------------------------------------------

inline constexpr char kReaderDoc[] = R"(Tells what records say: the opposite of what a Merge writes.

`descending` has a bit for each tied word of which more is better.)";

inline constexpr char kReaderRead[] = R"(Score, subscore (None where one word is tied), time and version behind a record: O(1).

ValueError when the record has another width, or when its time lies before 1970 or after 9999.

>>> from struct import pack
>>> RecordReader().read(pack(">3Q", ~75 + 2**63, 1_500_000 + 2**63, 8))
(75, None, datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=datetime.timezone.utc), 8))";

inline constexpr char kReaderColumns[] = R"(What records say, which come one after the other, in four columns: O(k).

Returns packed native i64 scores, subscores (0 where one word is tied), times in microseconds since 1970,
and versions. ValueError when the last record is not whole or a version does not fit 63 bits.

>>> from array import array
>>> from struct import pack
>>> records = pack(">6Q", ~75 + 2**63, 5 + 2**63, 8, ~70 + 2**63, 6 + 2**63, 9)
>>> [array("q", column).tolist() for column in RecordReader().columns(records)]
[[75, 70], [0, 0], [5, 6], [8, 9]])";

inline constexpr char kReaderPack[] = R"(The records of entries in four columns, one after the other: the opposite of `columns`. O(k).

Columns are packed native i64 and equally long. Subscores are ignored where one word is tied. ValueError
when a version is negative.

>>> from array import array
>>> columns = [array("q", column) for column in ([75, 70], [0, 0], [5, 6], [8, 9])]
>>> reader = RecordReader()
>>> reader.columns(reader.pack(*columns)) == tuple(column.tobytes() for column in columns)
True)";

inline constexpr char kReaderDigestRows[] = R"(What the digest of a period is made of, of each row: O(k).

`numbers` are packed native i64 numbers of players. Of each row five big-endian signed 64-bit numbers:
the player's number, score, subscore (0 where one word is tied), time in microseconds since 1970, version.

>>> from array import array
>>> from struct import pack, unpack
>>> record = pack(">3Q", ~75 + 2**63, 5 + 2**63, 8)
>>> unpack(">5q", RecordReader().digest_rows(array("q", [3]), record))
(3, 75, 0, 5, 8))";

// ---- RankColumns ---------------------------------------------------------------------------------

inline constexpr char kRanksDoc[] = R"(Ranks of all rows of a ladder, which come in its order, a few at a time.

Records have `words` words, of which the first `tied` are equal between tied rows. One thread at a time.)";

inline constexpr char kRanksAdd[] = R"(The ranks of the next rows, of records one after the other: O(k).

Returns packed native i64 competition ranks (1 + the rows before those that are tied) and dense ranks
(1 + the groups of tied rows before). ValueError, and nothing is counted, when the last record is not whole.

>>> from array import array
>>> ranks = RankColumns(1, 1)
>>> [array("q", column).tolist() for column in ranks.add(b"111111112222222222222222")]
[[1, 2, 2], [1, 2, 2]]
>>> [array("q", column).tolist() for column in ranks.add(b"2222222233333333")]
[[2, 5], [2, 3]])";

// ---- cards ---------------------------------------------------------------------------------------

inline constexpr char kPackCard[] = R"(A card as the index of a cluster keeps it: O(bytes of the card).

`entries` are stops of 8 bytes and records of so many words, in the order of their periods. What all
entries begin with, column by column, is there once; versions of records are left out. A card of more
than 32 KiB is not packed.

>>> from struct import pack
>>> day, week = (pack(">2I3Q", period, 1, 2**63 - 50, 2**63 + 7, 9) for period in (4, 5))
>>> len(day + week), len(pack_card(day + week, 3, 9))
(64, 36)
>>> pack_card(b"", 3, 9)
b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\t')";

inline constexpr char kBestCardsDoc[] = R"(Cards of players on a board where the best result counts, while a batch is decided.

None is the card of a player who has none. `descending` has a bit for each tied word of which more is
better.)";

inline constexpr char kBestCardsDecide[] = R"(Decide submissions in turn: O(1) each for cards of a few entries.

A submission has `player`, `score`, `subscore` and `at`; `cards_of` leads from players to the indexes of
their cards. All of them count at the same stops. Returns a byte for each (1: an entry changed) and, if
asked for, the scores after and before at each stop.

>>> from types import SimpleNamespace
>>> cards = BestCards([None], tied=1, descending=1, last_wins=False)
>>> rows = [SimpleNamespace(player="ann", score=score, subscore=None, at=7) for score in (50, 40)]
>>> cards.decide(rows, {"ann": 0}, [8, 9], [bytes(8)], True)
(b'\\x01\\x00', [[(50, None)], [(50, 50)]])
>>> [(index, version) for index, version, _ in cards.changed()]
[(0, 8)])";

inline constexpr char kBestCardsChanged[] = "Index, version and entries of the cards that were changed: O(bytes).";

inline constexpr char kBestCardsPeriods[] = "Numbers of the periods in the cards that were changed: O(bytes).";

inline constexpr char kMovesDoc[] = R"(What new cards change on ladders, as the arguments of a script.

`words` and `order` are those of the records; `packs` says whether cards are packed.)";

inline constexpr char kMovesAdd[] = R"(Note a new card and the one that it replaces: O(bytes of both).

Returns whether that was done, how many members leave and enter ladders, and how many stops are new
here. It is not done if both together, stops counted twice, are more than `most`.

>>> from struct import pack
>>> old, new = (pack(">2I3Q", 4, 1, 2**63 - score, 2**63 + 7, 9) for score in (50, 60))
>>> moves = CardMoves(words=3, order=2, packs=True)
>>> moves.add("ann", 9, new, 8, old, 100)
(True, 2, 1)
>>> cards, places, stop, version, leave, enter = moves.arguments()
>>> stop == old[:8], version, leave == b"\\0\\x13" + old[8:24] + b"ann"
(True, b'9', True))";

inline constexpr char kMovesAsk[] = R"(Ask for the places of a player in periods, given both cards: O(bytes of both).

A place is counted up to the first words of the entry, or up to the player's member.

>>> from struct import pack
>>> card = pack(">2I3Q", 4, 1, 2**63 - 50, 2**63 + 7, 9)
>>> moves = CardMoves(words=3, order=2, packs=True)
>>> moves.ask("ann", [card[:4]], b"", card, 1, False)
>>> moves.arguments() == [b"", card[:4] + b"\\0\\0" + b"\\0\\x08" + card[8:16]]
True)";

inline constexpr char kMovesArguments[] = R"(Cards, places, then stop, greatest version, members that leave and that enter of each: O(bytes).

Members are texts with their length in two bytes. A card is its player, likewise, the version that it
replaces in eight bytes, its length in four, and itself. A place is the number of its period and two
texts: where the player was, and where it is.

>>> CardMoves(words=3, order=2, packs=True).arguments()
[b'', b''])";

inline constexpr char kMovesNbytes[] = "Bytes of the cards.";

inline constexpr char kCardPeriods[] = R"(The numbers of the periods that some cards have entries of: O(bytes).

>>> from struct import pack
>>> day, week = (pack(">2I3Q", period, 1, 2**63 - 50, 2**63 + 7, 9) for period in (4, 5))
>>> sorted(card_periods([day, day + week, b""], 3)) == [day[:4], week[:4]]
True)";

inline constexpr char kColumnsDoc[] = R"(Entries of some periods on many cards, gathered by stop.

A stop is the number of a period and that of the scopes, as a card has them. Cards that have an entry of
the periods are numbered from 0, in the order in which they are added.)";

inline constexpr char kColumnsAdd[] = R"(Add cards; the indexes, as packed u32, of those that have an entry of the periods: O(bytes).

>>> from struct import pack, unpack
>>> day, week = (pack(">2I3Q", period, 1, 2**63 - 50, 2**63 + 7, 9) for period in (4, 5))
>>> columns = CardColumns(words=3, periods=[week[:4]])
>>> unpack("=2I", columns.add([week, day, day + week]))
(0, 2))";

inline constexpr char kColumnsStops[] = R"(The stops at which there is an entry, in no order: O(stops).

>>> CardColumns(words=3, periods=[]).stops()
[])";

inline constexpr char kColumnsGather[] = R"(The numbers of cards, as packed u32, and the records that are at some stops: O(n), without the GIL.

Meanwhile nothing can be added.

>>> from struct import pack, unpack
>>> day, week = (pack(">2I3Q", period, 1, 2**63 - 50, 2**63 + 7, 9) for period in (4, 5))
>>> columns = CardColumns(words=3, periods=[week[:4]])
>>> _ = columns.add([week, day, day + week])
>>> numbers, records = columns.gather(columns.stops())
>>> unpack("=2I", numbers), records == 2 * week[8:]
((0, 1), True))";

// ---- coroutines ----------------------------------------------------------------------------------

inline constexpr char kLeafHashes[] = R"(The hashes of leaves and their positions (packed i64), in the order of positions: O(k).

Rows are JSON of (position, recorded_at, route, player, at, score, subscore, status); `routes` and `tails`
have what leaves say of a route and at their end; `others` are leaves of other events.

>>> hashes, positions = leaf_hashes(b"[[7,1,2,3,4,5,null,1]]", {2: b'["blitz"]'}, {}, [(6, b"x")])
>>> len(hashes), memoryview(positions).cast("q").tolist()
(64, [6, 7]))";

inline constexpr char kTreeHash[] = R"(The hash of a Merkle tree (RFC 9162) over hashes of 32 bytes: O(n).

>>> tree_hash(bytes(32)) == bytes(32), len(tree_hash(bytes(96)))
(True, 32))";

inline constexpr char kSha256[] = R"(SHA-256, as leaves and nodes are hashed: O(n).

>>> sha256(b"abc").hex()[:8]
'ba7816bf')";

inline constexpr char kSha256Plain[] =
    R"(SHA-256 without the processor's own instructions, for tests: O(n).

>>> _sha256_plain(b"abc") == sha256(b"abc")
True)";

inline constexpr char kFinish[] = R"(The result of a coroutine that does not wait: O(1) beyond its own work.

One that does is handed to `otherwise` with what it waits for, and that call answers.

>>> async def answer():
...     return 42
>>> finish(answer(), print)
42)";

inline constexpr char kFailAllocationsAfter[] = R"(For tests: let `count` more allocations succeed and fail the rest; -1 ends it.

>>> _fail_allocations_after(-1))";

}  // namespace toprung
