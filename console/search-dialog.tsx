import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from './components/dialog.tsx';
import { TextField } from './components/fields.tsx';

/** Time after the last key before a text is searched for. */
const pauseMs = 250;

type Results = ComponentType<{ readonly text: string }>;

/**
 * Finds a customer or a record from any page, while the user types. Enter opens the first result. The dialog opens at
 * once, because it receives the next keys; only the results are a file to load.
 */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [searched, setSearched] = useState('');
  const [SearchResults, setSearchResults] = useState<Results | undefined>();
  const form = useRef<HTMLFormElement>(null);
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
  const openFirst = (event: SubmitEvent) => {
    event.preventDefault();
    if (searched === text.trim()) form.current?.querySelector('a')?.click();
    else setSearched(text.trim());
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      <form ref={form} onSubmit={openFirst}>
        <TextField
          label="Beginning of a name, or an id"
          type="search"
          value={text}
          onInput={setText}
          placeholder="Customer, purchase, order, transaction, event or delivery"
        />
        {SearchResults && searched !== '' && <SearchResults text={searched} />}
      </form>
    </Dialog>
  );
}
