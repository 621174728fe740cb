import { useLoad } from '../../api/use-api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogButton } from '../../components/dialog.tsx';
import { FieldList } from '../../components/field-list.tsx';
import { ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { type DefinitionId, definitionTitles } from './definition-titles.ts';

/** The texts are loaded with the first definition. */
const loadDefinitions = async () => await import('./definitions.ts');

/** Opens the definition of a figure, which the text around the button names. */
export function DefinitionButton({ id }: { readonly id: DefinitionId }) {
  const title = definitionTitles[id];
  return (
    <DialogButton
      kind="quiet"
      label={`Definition: ${title}`}
      render={(onClose) => (
        <Dialog title={title} onClose={onClose}>
          <DefinitionText id={id} />
          <div class="dialog-actions">
            <Button onClick={onClose}>Close</Button>
          </div>
        </Dialog>
      )}
    >
      Definition
    </DialogButton>
  );
}

function DefinitionText({ id }: { readonly id: DefinitionId }) {
  const { data, error, reload } = useLoad(loadDefinitions, 'definitions');
  if (!data) return error === undefined ? <Skeleton lines={4} /> : <ErrorNotice error={error} onRetry={reload} />;
  const { definitions, toPageText } = data;
  const { paragraphs, differences } = definitions[id];
  return (
    <div class="dialog-body">
      {paragraphs.map((text) => (
        <p key={text}>{toPageText(text)}</p>
      ))}
      {differences.length > 0 && <FieldList fields={differences} />}
      <p class="quiet">The page docs/figures.md has the rules of all figures and an example.</p>
    </div>
  );
}
