import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from './components/dialog.tsx';
import { TextField } from './components/fields.tsx';
import { Icon } from './components/icon.tsx';
import type { PageDefinition } from './pages/page.ts';
import { listRecentCustomers } from './recent-customers.ts';
import { Link } from './router.tsx';

/** Time after the last key before a text is searched for. */
const pauseMs = 250;

type Results = ComponentType<{ readonly text: string; readonly hasOthers: boolean }>;

interface SearchDialogProps {
  readonly pages: readonly PageDefinition[];
  readonly onClose: () => void;
}

/**
 * Finds a page, a customer or a record from any page, while the user types. Enter opens the first result, and the arrow
 * keys select another one. The dialog opens at once, because it receives the next keys; only the results are a file to
 * load.
 */
export function SearchDialog({ pages, onClose }: SearchDialogProps) {
  const [text, setText] = useState('');
  const [searched, setSearched] = useState('');
  const [SearchResults, setSearchResults] = useState<Results | undefined>();
  const [recent] = useState(listRecentCustomers);
  const form = useRef<HTMLFormElement>(null);
  const wanted = text.trim().toLowerCase();
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    import('./pages/customers/search-results.tsx').then((module) => setSearchResults(() => module.SearchResults));
  }, []);
  useEffect(() => {
    addEventListener('hashchange', onClose);
    return () => removeEventListener('hashchange', onClose);
  }, [onClose]);
  const rank = ({ title }: PageDefinition): number => title.toLowerCase().indexOf(wanted);
  const found = pages
    .filter((page) => page.icon !== undefined && rank(page) >= 0)
    .sort((a, b) => Math.sign(rank(a)) - Math.sign(rank(b)));
  const openFirst = (event: SubmitEvent) => {
    event.preventDefault();
    if (searched === text.trim() || found.length > 0) form.current?.querySelector('a')?.click();
    else setSearched(text.trim());
  };
  const handleKey = (event: KeyboardEvent) => {
    const stops = [...(form.current?.querySelectorAll<HTMLElement>('input, a') ?? [])];
    const [field] = stops;
    const position = stops.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      stops[(position + step + stops.length) % stops.length]?.focus();
    } else if (position > 0 && event.key.length === 1 && !event.ctrlKey && !event.metaKey) field?.focus();
  };
  return (
    <Dialog title="Search" size="large" onClose={onClose}>
      <form ref={form} class="palette" onSubmit={openFirst} onKeyDown={handleKey}>
        <TextField
          label="Page, beginning of a word of a name, or an id"
          type="search"
          value={text}
          onInput={setText}
          placeholder="Customer, purchase, order, transaction, event or delivery"
        />
        {wanted === '' && recent.length > 0 && (
          <section aria-label="Recent customers">
            <h3>Recent customers</h3>
            <ul class="palette-list">
              {recent.map((user) => (
                <li key={user}>
                  <Link class="palette-link" to="/customers/:user" params={{ user }}>
                    <Icon name="customers" /> {user}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        )}
        {found.length > 0 && (
          <section aria-label="Pages">
            <h3>Pages</h3>
            <ul class="palette-list">
              {found.map(({ path, title, icon = 'chevron' }) => (
                <li key={path}>
                  <Link class="palette-link" to={path}>
                    <Icon name={icon} /> {title}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        )}
        {SearchResults && searched !== '' && <SearchResults text={searched} hasOthers={found.length > 0} />}
        <p class="quiet palette-keys">
          <kbd>↑</kbd> <kbd>↓</kbd> select, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes
        </p>
      </form>
    </Dialog>
  );
}
