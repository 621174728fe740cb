import { createSearch, type SearchIndex, type SearchResult } from './search-index.ts';

/** Characters of a text that a result shows. */
const excerptLength = 160;
/** Characters before the first match. */
const excerptLead = 50;

/** Makes the button and the keys `/` and Ctrl-K open the search. The index is loaded with the first search. */
export function connectSearch(button: HTMLElement, indexUrl: string): void {
  const root = new URL('..', new URL(indexUrl, location.href));
  const { dialog, input, list, status } = createDialog();
  let searching: Promise<(query: string) => SearchResult[]> | undefined;
  const show = async (): Promise<void> => {
    searching ??= loadSearch(indexUrl);
    const query = input.value.trim();
    const results = query === '' ? [] : (await searching)(query);
    // A later input has its own results.
    if (query !== input.value.trim()) return;
    list.replaceChildren(...results.map((result) => renderResult(result, root)));
    status.textContent = query === '' ? '' : results.length === 0 ? `No page has “${query}”.` : '';
  };
  const update = (): void => {
    show().catch(() => {
      searching = undefined;
      status.textContent = 'The search index is unavailable. Try again later.';
    });
  };
  const open = (): void => {
    if (!dialog.open) dialog.showModal();
    input.select();
    update();
  };
  button.addEventListener('click', open);
  input.addEventListener('input', update);
  document.addEventListener('keydown', (event) => {
    const isShortcut =
      (event.key === '/' && !isEditable(event.target)) || (event.key === 'k' && (event.ctrlKey || event.metaKey));
    if (!isShortcut) return;
    event.preventDefault();
    open();
  });
  dialog.addEventListener('keydown', (event) => moveFocus(event, input, list));
  // A link to the same page does not load it.
  list.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
}

async function loadSearch(url: string) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The search index has the status ${response.status}.`);
  return createSearch((await response.json()) as SearchIndex);
}

function createDialog() {
  const dialog = createElement('dialog');
  dialog.id = 'search-dialog';
  dialog.setAttribute('aria-label', 'Search');
  const input = createElement('input');
  Object.assign(input, {
    type: 'search',
    placeholder: 'Search the documentation',
    autocomplete: 'off',
    spellcheck: false,
  });
  input.setAttribute('aria-label', 'Search the documentation');
  const close = createElement('button', 'Close');
  close.type = 'button';
  close.addEventListener('click', () => dialog.close());
  const field = createElement('div', input, close);
  const status = createElement('p');
  status.setAttribute('role', 'status');
  const list = createElement('ul');
  dialog.append(field, status, list);
  document.body.append(dialog);
  return { dialog, input, list, status };
}

function renderResult({ url, page, heading, text, terms }: SearchResult, root: URL): HTMLElement {
  const link = createElement('a');
  link.href = new URL(url, root).href;
  const title = createElement('strong', ...markTerms(heading, terms));
  const place = createElement('span', page === heading ? '' : page);
  const excerpt = createElement('p', ...markTerms(selectExcerpt(text, terms), terms));
  link.append(title, ' ', place, excerpt);
  return createElement('li', link);
}

/** Returns the part of the text with the most matching words. */
function selectExcerpt(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const countTerms = (from: number): number => {
    const part = lower.slice(from, from + excerptLength - excerptLead);
    return terms.filter((term) => part.includes(term)).length;
  };
  const positions = terms
    .flatMap((term) => [...lower.matchAll(new RegExp(escapePattern(term), 'g'))])
    .map(({ index }) => index);
  const best = positions.toSorted((a, b) => countTerms(b) - countTerms(a) || a - b)[0] ?? 0;
  const from = best <= excerptLead ? 0 : text.indexOf(' ', best - excerptLead) + 1;
  const end = text.length - from <= excerptLength ? text.length : text.lastIndexOf(' ', from + excerptLength);
  return `${from > 0 ? '… ' : ''}${text.slice(from, end)}${end < text.length ? ' …' : ''}`;
}

/** Splits a text at the matches, which become marks. */
function markTerms(text: string, terms: readonly string[]): (string | HTMLElement)[] {
  if (terms.length === 0) return [text];
  // Every second part is a match.
  return text
    .split(new RegExp(`(${terms.map(escapePattern).join('|')})`, 'i'))
    .map((part, index) => (index % 2 === 0 ? part : createElement('mark', part)));
}

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The arrow keys move between the field and the results, and Enter in the field opens the first one. */
function moveFocus(event: KeyboardEvent, input: HTMLInputElement, list: HTMLElement): void {
  const links = [...list.querySelectorAll('a')];
  if (event.key === 'Enter' && event.target === input) links[0]?.click();
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  event.preventDefault();
  const elements: readonly HTMLElement[] = [input, ...links];
  const index = elements.indexOf(document.activeElement as HTMLElement) + (event.key === 'ArrowDown' ? 1 : -1);
  elements[Math.max(0, Math.min(index, elements.length - 1))]?.focus();
}

const isEditable = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;

function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  ...children: readonly (string | Node)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  element.append(...children);
  return element;
}
