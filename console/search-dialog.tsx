import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './components/dialog.tsx';
import { TextField } from './components/fields.tsx';
import { SearchResults } from './pages/customers/search-results.tsx';

/** Time after the last key before a text is searched for. */
const pauseMs = 250;

/** Finds a customer or a record from any page, while the user types. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [searched, setSearched] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    addEventListener('hashchange', onClose);
    return () => removeEventListener('hashchange', onClose);
  }, [onClose]);
  return (
    <Dialog title="Search" onClose={onClose}>
      <TextField
        label="Beginning of a name, or an id"
        type="search"
        value={text}
        onInput={setText}
        placeholder="Customer, purchase, order, transaction, event or delivery"
      />
      {searched !== '' && <SearchResults text={searched} />}
    </Dialog>
  );
}
