/** Marks the entry of the outline whose heading is the last one above the middle of the screen. */
export function markVisibleHeading(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('#outline a')];
  const entries = links.flatMap((link) => {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    return heading ? [{ link, heading }] : [];
  });
  if (entries.length === 0) return;
  let isScheduled = false;
  const mark = (): void => {
    isScheduled = false;
    const current = entries.findLast(({ heading }) => heading.getBoundingClientRect().top < innerHeight / 3);
    for (const { link } of entries) {
      if (link === current?.link) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  addEventListener('scroll', () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(mark);
  });
  mark();
}
