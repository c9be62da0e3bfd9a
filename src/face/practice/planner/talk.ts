/** What the practice model says when no tool is for the prompt: greetings, what it is, arithmetic in the head, short essays. */
import type { Conversation } from "../conversation.js";
import { findArithmetic, showNumber } from "./arithmetic.js";
import type { Episode } from "./episode.js";
import { capitalise, shorten } from "./words.js";

/** An answer without tools, in Markdown. */
export function talk(episode: Episode, conversation: Conversation): string {
  const text = episode.prompts.join("\n").trim();
  const bare = text.replace(/[\s.!?,]+$/, "");
  if (text === "") return `I see no text in your message. ${introduce(conversation)}`;
  if (
    /^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|howdy|moin|hallo|bonjour)\b(?:[ ,]+\w+)?$/i.test(
      bare,
    )
  ) {
    return `Hello! ${introduce(conversation)}`;
  }
  if (/^(?:thanks?|thank you|cheers|great|perfect|nice|ok(?:ay)?|cool)\b.{0,30}$/i.test(bare))
    return "You are welcome. Ask me something else whenever you like.";
  if (/^(?:bye|goodbye|see you|farewell)\b/i.test(bare)) return "Goodbye, and thank you for practising.";
  if (
    /\b(?:who|what) are you\b|\byour name\b|\bwhat can you do\b|\bwhich tools\b|\bwhat tools\b|\bhelp me\b|^help$/i.test(
      text,
    )
  ) {
    return introduce(conversation);
  }
  if (/\bwhat did i (?:ask|say)\b|\bmy (?:last|previous|first) (?:question|message)\b/i.test(text))
    return recall(episode, text);
  const sums = findArithmetic(text);
  if (sums.length > 0) {
    const lines = sums.map(({ expression, value }) => `**${expression} = ${showNumber(value)}**`);
    return `${lines.join("\n\n")}\n\nI worked that out by myself, because I was given no tool for arithmetic.`;
  }
  if (/\bjokes?\b/i.test(text))
    return "A parser walks into a bar, and the bartender says: “I was expecting you.”";
  const asked = ESSAY.exec(text);
  if (asked)
    return essay(/\b(?:story|tale)\b/i.test(text), topicOf(text.slice(asked.index + asked[0].length)));
  return `You wrote: “${shorten(text.replace(/\s+/g, " "), 160)}”. That is beyond a practice model. ${introduce(conversation)}`;
}

function introduce({ tools, choice }: Conversation): string {
  const what =
    "I am the **practice model** built into looplet: a small deterministic program that runs here, without a key and without a network, and speaks the wire formats of real providers.";
  if (tools.length === 0) {
    return `${what}\n\nI was given no tools in this request, so I can only talk: ask me to *explain* or *write* something, and watch it stream.`;
  }
  const list = tools
    .slice(0, 20)
    .map(
      ({ name, description }) =>
        `- \`${name}\`${description === "" ? "" : `: ${shorten(description.replace(/\s+/g, " "), 100)}`}`,
    );
  const more = tools.length > list.length ? `\n- … and ${tools.length - list.length} more` : "";
  const closed = choice.type === "none" ? "\n\nThis request forbids calling them." : "";
  return `${what}\n\nI see these tools and call them when your words fit them:\n\n${list.join("\n")}${more}${closed}\n\nTry two tasks in one sentence, and I ask for both at once.`;
}

function recall({ earlier }: Episode, text: string): string {
  const asked = /\bfirst\b/i.test(text) ? earlier[0] : earlier.at(-1);
  return asked === undefined ? "This is your first message." : `You asked: “${shorten(asked, 300)}”`;
}

const ESSAY =
  /\b(write|tell|explain|describe|summari[sz]e|compose|draft|discuss|teach|list|give|show|create)\b(?:\s+(?:me|us))?/i;

function topicOf(rest: string): string {
  const topic = rest
    .replace(
      /^\s*(?:(?:a|an|some|the(?= (?:story|poem|essay|text))|short|long|little|brief|about|of|on|how|why|what|few|two|three|paragraphs?|story|poem|essay|text|article|words|is|are|to|me|something)\s+)+/i,
      "",
    )
    .replace(/[\s.!?]+$/, "")
    .replace(/\s+/g, " ")
    .trim();
  return topic === "" ? "practice" : shorten(topic, 80);
}

function essay(isStory: boolean, topic: string): string {
  const title = capitalise(topic);
  const opening = isStory
    ? `There was once a person who wanted to know everything about ${topic}. Nobody in the village could help, so the person sat down, took a blank sheet of paper and wrote one honest question on it.`
    : `There is a short way and a long way to look at ${topic}. The short way is to say what it is for; the long way is to take it apart, look at each piece, and put it together again. Here is a bit of both.`;
  const middle = isStory
    ? "The first answer was wrong, and that was the good part: a wrong answer shows where to look next. The second was only half wrong. By the evening the sheet was full, and the question at its top had become smaller and clearer."
    : "First, the purpose. Most things are easier to understand by what would be missing without them. Second, the parts: which of them change often, and which stay the same for years? What stays the same deserves the most care, because everything else leans on it. Third, the limits: knowing where something stops working is half of knowing how it works.";
  const closing = isStory
    ? `So ${topic} turned out to be a path rather than a place. The end.`
    : `Put together, that gives a plain rule for ${topic}: begin with the smallest example that works, change one thing at a time, and look at what happened before you change the next.`;
  const note =
    "_These paragraphs come from the practice model: the words are real and the streaming is real, but there is no knowledge behind them. With a key, the same page asks a real model._";
  return [`## ${title}`, opening, middle, closing, note].join("\n\n");
}
