"""What `--help` says."""

HELP = """\
The practice agent of Walnut Desktop. It speaks the protocol of the Claude CLI, but there is no model and no
account behind it. The app starts it with the options that it gives to `claude`.

Just write to it, or put stage directions into a message:

  [[say TEXT]]              say something
  [[think TEXT]]            think aloud
  [[slow N MS]]             say N words, one every MS milliseconds
  [[long N]]                say N characters at once
  [[tool NAME {JSON}]]      call a tool: Bash, Read, Write, Edit, AskUserQuestion, EnterPlanMode, ExitPlanMode
  [[badtool NAME TEXT]]     call a tool with an input that is no JSON
  [[toolout N]]             call a tool whose result has N bytes
  [[next]]                  begin the next answer; an answer also ends after its tools
  [[stop REASON]]           the stop reason of an answer

  [[sleep S]]               pause for S seconds, in the middle of an answer
  [[delay S]]               pause before an answer begins
  [[hang]]                  say nothing more

  [[status CODE]]           the service answers with this error, every time
  [[status CODE N]]         ... N times, and then works
  [[login]]                 nobody is logged in
  [[header NAME VALUE]]     a header of the service, such as anthropic-ratelimit-unified-status

  [[crash]]                 end as if killed
  [[exit N]]                end with this exit code
  [[garbage TEXT]]          write a line that is no JSON
  [[torn TEXT]]             write half a line
  [[raw {JSON}]]            write this line

In a text and in a tool's input, {{re:REGEX}} becomes the last thing that the session has seen and that fits.

Environment:
  WALNUT_PRACTICE_HOME          its files; else ~/.walnut-practice
  WALNUT_PRACTICE_FAST=1        no pauses between words
  WALNUT_PRACTICE_LOGGED_OUT=1  nobody is logged in
"""
