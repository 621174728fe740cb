import { useState } from 'preact/hooks';
import type { createAnnotation, deleteAnnotation } from '../../lib/annotations/contract.ts';
import { callApi, defineEndpoint } from '../api/client.ts';
import { useAction } from '../api/use-api.ts';
import { getNow } from '../clock.ts';
import { announceResult } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { DayField, Form, TextField } from '../components/fields.tsx';
import { Row } from '../components/layout.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { formatDay } from '../format.ts';
import { useCanChange } from '../session.ts';
import { type AnnotationsProps, listNotes, toNote } from './annotation-notes.ts';
import { toDay } from './periods.ts';

const endpoints = {
  create: defineEndpoint<typeof createAnnotation>('POST', '/v3/annotations'),
  remove: defineEndpoint<typeof deleteAnnotation>('DELETE', '/v3/annotations/:annotationId'),
};

/** Lists the annotations of a page. With the secret key, they can be added and deleted. */
export function AnnotationsDialog({ annotations, onClose }: AnnotationsProps & { readonly onClose: () => void }) {
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
      <p class="dialog-body">
        Releases, campaigns and the changes of prices that the payments show, on the day (UTC) in every chart.
      </p>
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
        {data?.priceChanges.map(toNote).map(({ date: day, text: content }) => (
          <li key={day + content}>
            <span>
              <span class="quiet number">{formatDay(day)}</span> {content} <span class="quiet">from the payments</span>
            </span>
          </li>
        ))}
      </ul>
      {data && listNotes(annotations).length === 0 && <p>The shown days have no annotation.</p>}
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
