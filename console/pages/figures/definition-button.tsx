import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FieldList } from '../../components/field-list.tsx';
import { type DefinitionId, definitions } from './definitions.ts';

/** Opens the definition of a figure. */
export function DefinitionButton({ id }: { readonly id: DefinitionId }) {
  const [isOpen, setOpen] = useState(false);
  const { title, paragraphs, differences } = definitions[id];
  const close = () => setOpen(false);
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Definition: {title}
      </Button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          <div class="dialog-body">
            {paragraphs.map((text) => (
              <p key={text}>{text}</p>
            ))}
            {differences.length > 0 && <FieldList fields={differences} />}
            <p class="quiet">The page docs/figures.md has the rules of all figures and an example.</p>
          </div>
          <div class="dialog-actions">
            <Button onClick={close}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
