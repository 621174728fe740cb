import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type {
  Annotation,
  createAnnotation,
  deleteAnnotation,
  listAnnotations,
} from '../../lib/annotations/contract.ts';
import { callApi, defineEndpoint } from '../api/client.ts';
import { type Loaded, useAction, useApi } from '../api/use-api.ts';
import { getNow } from '../clock.ts';
import { announceResult } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { ChartNotes } from '../components/chart-notes.ts';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { DayField, Form, TextField } from '../components/fields.tsx';
import { Row } from '../components/layout.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { formatDay } from '../format.ts';
import { useCanChange } from '../session.ts';
import { type Range, toDay } from './periods.ts';

const endpoints = {
  list: defineEndpoint<typeof listAnnotations>('GET', '/v3/annotations'),
  create: defineEndpoint<typeof createAnnotation>('POST', '/v3/annotations'),
  remove: defineEndpoint<typeof deleteAnnotation>('DELETE', '/v3/annotations/:annotationId'),
};

type Annotations = Loaded<{ readonly rows: readonly Annotation[] }>;

/** Loads the annotations of the days of a page. */
export const useAnnotations = ({ first, last }: Range): Annotations =>
  useApi(endpoints.list, { query: { startdate: first, enddate: last } });

interface AnnotationsProps {
  readonly annotations: Annotations;
}

/** Shows the annotations in the charts below. */
export const AnnotatedCharts = ({
  annotations,
  children,
}: AnnotationsProps & { readonly children: ComponentChildren }) => (
  <ChartNotes.Provider value={annotations.data?.rows ?? noRows}>{children}</ChartNotes.Provider>
);

const noRows: readonly Annotation[] = [];

/** Opens the list of the annotations. With the secret key, they can be added and deleted. */
export function AnnotationsButton({ annotations }: AnnotationsProps) {
  const { rows = noRows } = annotations.data ?? {};
  return (
    <DialogButton
      kind="quiet"
      icon="note"
      render={(onClose) => <AnnotationsDialog annotations={annotations} onClose={onClose} />}
    >
      Annotations{rows.length > 0 && ` (${rows.length})`}
    </DialogButton>
  );
}

function AnnotationsDialog({ annotations, onClose }: AnnotationsProps & { readonly onClose: () => void }) {
  const { data, error, reload } = annotations;
  const canChange = useCanChange();
  const [date, setDate] = useState(() => toDay(getNow()));
  const [text, setText] = useState('');
  const add = useAction(async () => {
    await callApi(endpoints.create, { body: { date, text } });
    announceResult('The annotation is added.');
    setText('');
    reload();
  });
  const remove = useAction(async (annotationId: string) => {
    await callApi(endpoints.remove, { params: { annotationId } });
    announceResult('The annotation is deleted.');
    reload();
  });
  return (
    <Dialog title="Annotations" isBusy={add.isRunning || remove.isRunning} onClose={onClose}>
      <p class="dialog-body">Releases, changes of prices and campaigns, on the day (UTC) in every chart.</p>
      <ErrorNotice error={error ?? add.error ?? remove.error} />
      <ul class="claims">
        {data?.rows.map(({ id, date: day, text: content }) => (
          <li key={id}>
            <span>
              <span class="quiet number">{formatDay(day)}</span> {content}
            </span>
            {canChange && (
              <Button
                kind="quiet"
                icon="close"
                label={`Delete the annotation ${content}`}
                onClick={() => remove.run(id)}
                isDisabled={remove.isRunning}
              >
                Delete
              </Button>
            )}
          </li>
        ))}
      </ul>
      {data?.rows.length === 0 && <p>The shown days have no annotation.</p>}
      {canChange ? (
        <Form label="Add an annotation" onSubmit={add.run}>
          <Row>
            <DayField label="Day (UTC)" value={date} onSelect={setDate} isRequired />
            <TextField label="Text" value={text} onInput={setText} placeholder="Release 2.0" isRequired canGrow />
          </Row>
          <div class="dialog-actions">
            <Button onClick={onClose}>Close</Button>
            <Button type="submit" kind="primary" isBusy={add.isRunning}>
              Add
            </Button>
          </div>
        </Form>
      ) : (
        <div class="dialog-actions">
          <Button onClick={onClose}>Close</Button>
        </div>
      )}
    </Dialog>
  );
}
