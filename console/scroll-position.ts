/** Vertical positions by entry of the history of the tab. */
const positions = new Map<string, number>();
let entry = '';
let isRestoring = false;

/** Time in which the content of a page can load before its position is given up. */
const maxRestoreMs = 5_000;

const root = document.documentElement;

/** Reads the id of the current entry of the history: a new one has none yet. */
function readEntry(): void {
  const { entry: known } = (history.state ?? {}) as { readonly entry?: string };
  if (known !== undefined && positions.has(known)) {
    entry = known;
    return;
  }
  entry = crypto.randomUUID();
  positions.set(entry, 0);
  history.replaceState({ entry }, '');
}

/** Stores where each page was left. */
export function recordScrollPositions(): void {
  history.scrollRestoration = 'manual';
  readEntry();
  addEventListener('hashchange', readEntry);
  addEventListener('scroll', () => isRestoring || positions.set(entry, root.scrollTop));
  // The user decides from now on.
  for (const type of ['wheel', 'touchmove', 'keydown', 'mousedown'])
    addEventListener(type, () => {
      isRestoring = false;
    });
}

/** Restores the scroll position once the content is high enough. A new page begins at the top. */
export function restoreScrollPosition(): void {
  const [target, top, until] = [entry, positions.get(entry) ?? 0, performance.now() + maxRestoreMs];
  isRestoring = true;
  const scroll = () => {
    if (!isRestoring || entry !== target) return;
    scrollTo(0, top);
    isRestoring = Math.abs(root.scrollTop - top) > 1 && performance.now() < until;
    if (isRestoring) requestAnimationFrame(scroll);
  };
  scroll();
}
