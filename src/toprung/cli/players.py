"""`toprung player` and `toprung friend`: profiles, standings everywhere, friendships, erasure."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer
from msgspec import UNSET, UnsetType

from toprung.blocking import Leaderboards
from toprung.cli.exporting import STDOUT, output
from toprung.cli.options import (
    BoardId,
    CommandGroup,
    Count,
    Cursor,
    PlayerId,
    StandingOptions,
    Target,
    Yes,
    command,
    confirm,
)
from toprung.cli.outcome import misused
from toprung.cli.show import Column, json_line, note, print_json, print_table, say
from toprung.cli.standings import print_page
from toprung.cli.target import opened
from toprung.contract import FriendsAnswer
from toprung.errors import UnknownPlayer
from toprung.operations.wire import shown
from toprung.ports import PlayerProfile

Other = Annotated[str, typer.Argument(metavar="OTHER", help="the other player's id")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    player = typer.Typer(
        cls=CommandGroup,
        name="player",
        help="Show, set, patch, export and erase players.",
        no_args_is_help=True,
    )
    command(player)(show)
    command(player, "set")(set_player)
    command(player, "patch")(patch_player)
    command(player)(export)
    command(player)(erase)
    app.add_typer(player)
    friend = typer.Typer(
        cls=CommandGroup,
        name="friend",
        help="Add, remove, list and rank friends.",
        no_args_is_help=True,
    )
    command(friend)(add)
    command(friend)(remove)
    command(friend, "list")(list_friends)
    command(friend, "top")(top_friends)
    app.add_typer(friend)


def show(target: Target, player: PlayerId) -> None:
    """Show a player's profile and standings on every board."""
    with opened(target) as boards:
        profile = boards.player(player)
        standings = boards.standings(player)
    if target.json:
        print_json(msgspec.to_builtins(profile) | {"standings": shown(standings)})
        return
    _say_profile(profile)
    columns = [
        Column("board"),
        Column("window"),
        Column("period"),
        Column("rank", True),
        Column("players", True),
        Column("score", True),
    ]
    print_table(
        columns, [(s.board, s.window, s.period, s.rank, s.total, s.score) for s in standings]
    )


def set_player(
    target: Target,
    player: PlayerId,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="the name to display")] = None,
    avatar_url: Annotated[
        str | None, typer.Option(metavar="URL", help="the URL of a picture")
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="an attribute, such as country=PT; repeatable"),
    ] = None,
) -> None:
    """Replace a player's whole profile; omitted parts are removed."""
    attributes = dict(_attribute(text) for text in attribute or ())
    with opened(target, create=True) as boards:
        profile = boards.set_player(player, name=name, avatar_url=avatar_url, attributes=attributes)
    _tell_profile(target, profile)


def patch_player(
    target: Target,
    player: PlayerId,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="the name to display; empty removes it")
    ] = None,
    avatar_url: Annotated[
        str | None, typer.Option(metavar="URL", help="the URL of a picture; empty removes it")
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="an attribute, such as country=PT; country= removes it; repeatable",
        ),
    ] = None,
) -> None:
    """Change parts of a player's profile; omitted parts stay."""
    if name is None and avatar_url is None and not attribute:
        raise misused("specify at least one of --name, --avatar-url and --attribute")
    attributes = {name: value or None for name, value in map(_attribute, attribute or ())}
    with opened(target, create=True) as boards:
        profile = boards.patch_player(
            player,
            name=UNSET if name is None else name or None,
            avatar_url=UNSET if avatar_url is None else avatar_url or None,
            attributes=attributes,
        )
    _tell_profile(target, profile)


def export(
    target: Target,
    player: PlayerId,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="a new file, or - for standard output")
    ] = STDOUT,
) -> None:
    """Export everything about a player as JSON."""
    with opened(target) as boards, output(file) as out:
        page = boards.export_player(player)
        head = {"player": page.player, "profile": page.profile, "friends": page.friends}
        # Boards are written page by page: a player may have submitted for years.
        out.write(json_line(head).removesuffix("}") + ',"boards":[')
        comma = ""
        while True:
            for each in page.boards:
                out.write(f"{comma}{json_line(each)}")
                comma = ","
            if page.next is None:
                break
            page = boards.export_player(player, cursor=page.next)
        out.write("]}\n")


def erase(target: Target, player: PlayerId, yes: Yes = False) -> None:
    """Permanently erase a player everywhere."""
    confirm(f"permanently erase {player} and all of their scores?", yes)
    with opened(target) as boards:
        boards.erase(player)
    if target.json:
        print_json({"erased": player})
    else:
        say(f"erased {player}")


def add(target: Target, player: PlayerId, other: Other) -> None:
    """Make two players friends of each other."""
    with opened(target) as boards:
        boards.befriend(player, other)
        _tell_friends(target, boards, player)


def remove(target: Target, player: PlayerId, other: Other) -> None:
    """End a friendship; does nothing if there is none."""
    with opened(target) as boards:
        boards.unfriend(player, other)
        _tell_friends(target, boards, player)


def list_friends(target: Target, player: PlayerId) -> None:
    """List a player's friends."""
    with opened(target) as boards:
        _tell_friends(target, boards, player)


def top_friends(
    target: Target,
    board: BoardId,
    player: PlayerId,
    read: StandingOptions,
    n: Count = 20,
    cursor: Cursor = None,
) -> None:
    """Rank a player and their friends on a board."""
    with opened(target) as boards:
        page = boards.board(board).friends(player, n, cursor, **read.words())
    print_page(target, page, player, movement=read.movement)
    if page.next is not None and not target.json:
        note(f"there are more: --cursor {page.next}")


def _tell_friends(target: Target, boards: Leaderboards, player: str) -> None:
    friends = boards.friends(player)
    if target.json:
        print_json(FriendsAnswer(friends))
        return
    for friend in friends:
        say(friend)
    if not friends:
        note(f"{player} has no friends")


def profile_of(boards: Leaderboards, player: str) -> PlayerProfile:
    """A player's profile; an empty one for a player that is not known yet."""
    try:
        return boards.player(player)
    except UnknownPlayer:
        return PlayerProfile(player)


def _attribute(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise misused(f"--attribute must be NAME=VALUE, not {text!r}")
    return name, value


def _tell_profile(target: Target, profile: PlayerProfile) -> None:
    if target.json:
        print_json(profile)
    else:
        _say_profile(profile)


def _say_profile(profile: PlayerProfile) -> None:
    say(f"player: {profile.player}")
    if profile.name is not None:
        say(f"name:   {profile.name}")
    if not isinstance(profile.pending_name, UnsetType):
        say(f"waits:  {profile.pending_name}")
    if profile.avatar_url is not None:
        say(f"avatar: {profile.avatar_url}")
    for name, value in profile.attributes.items():
        say(f"{name + ':':<7} {value}")
