/** Scrolls to the end of the conversation, unless the reader has scrolled away from it. */
import { useEffect, useRef, useState } from "react";
import { Icon } from "./icon.js";

const nearPx = 80;

const isNearEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) =>
  scrollHeight - scrollTop - clientHeight < nearPx;

/**
 * `scroller` is the ref of the element that scrolls, and `button` scrolls to its end. `turns` counts the started
 * turns.
 */
export function useScroll(turns: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(false);
  const [isAway, setAway] = useState(false);
  const toEnd = () => {
    isFollowing.current = true;
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  };
  useEffect(() => {
    if (turns > 0) return toEnd();
    // The first prompts are no conversation: their end is nowhere to hurry to.
    isFollowing.current = false;
    scroller.current?.scrollTo({ top: 0 });
  }, [turns]);
  useEffect(() => {
    const place = scroller.current!;
    let lastTop = 0;
    const look = () => setAway(!isFollowing.current && !isNearEnd(place));
    const scrolled = () => {
      const isUp = place.scrollTop < lastTop;
      lastTop = place.scrollTop;
      // Growing content also moves the end away. Only a reader who scrolls up wants to stay there.
      if (isNearEnd(place)) isFollowing.current = true;
      else if (isUp) isFollowing.current = false;
      look();
    };
    place.addEventListener("scroll", scrolled);
    const size = new ResizeObserver(() => {
      if (isFollowing.current) place.scrollTop = place.scrollHeight;
      look();
    });
    for (const part of [place, ...place.children]) size.observe(part);
    return () => {
      place.removeEventListener("scroll", scrolled);
      size.disconnect();
    };
  }, []);
  const button = (
    <button
      type="button"
      className="to-end"
      hidden={turns === 0 || !isAway}
      aria-label="Jump to the latest message"
      onClick={toEnd}
    >
      <Icon name="down" />
    </button>
  );
  return { scroller, button };
}
