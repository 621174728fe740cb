import { announce } from './announcer.tsx';
import { Button } from './button.tsx';

/** A JSON document as text, with a button that copies it. */
export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = JSON.stringify(value, undefined, 2) ?? 'undefined';
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    announce(`The ${label} is copied.`);
  };
  return (
    <div class="json">
      <div class="json-actions">
        <Button kind="quiet" icon="copy" onClick={copy} label={`Copy the ${label}`}>
          Copy
        </Button>
      </div>
      {/* Scrolls, so it must be reachable by keyboard. */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
    </div>
  );
}
