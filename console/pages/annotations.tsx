import type { ComponentChildren, ComponentProps } from 'preact';
import type { listAnnotations } from '../../lib/annotations/contract.ts';
import { defineEndpoint } from '../api/client.ts';
import { useApi, useLoad } from '../api/use-api.ts';
import { ChartNotes } from '../components/chart-notes.ts';
import { DialogButton } from '../components/dialog.tsx';
import { type Annotations, type AnnotationsProps, listNotes } from './annotation-notes.ts';
import type { AnnotationsDialog } from './annotations-dialog.tsx';
import type { Range } from './periods.ts';

const listEndpoint = defineEndpoint<typeof listAnnotations>('GET', '/v3/annotations');

/** Loads the annotations of the days of a page. */
export const useAnnotations = ({ first, last }: Range): Annotations =>
  useApi(listEndpoint, { query: { startdate: first, enddate: last } });

/** Shows the annotations in the charts below. */
export const AnnotatedCharts = ({
  annotations,
  children,
}: AnnotationsProps & { readonly children: ComponentChildren }) => (
  <ChartNotes.Provider value={listNotes(annotations)}>{children}</ChartNotes.Provider>
);

/** Opens the list of the annotations. With the secret key, they can be added and deleted. */
export function AnnotationsButton({ annotations }: AnnotationsProps) {
  const count = listNotes(annotations).length;
  return (
    <DialogButton
      kind="quiet"
      icon="note"
      render={(onClose) => <LazyDialog annotations={annotations} onClose={onClose} />}
    >
      Annotations <span class="count">{count > 0 && `(${count})`}</span>
    </DialogButton>
  );
}

/** The dialog is loaded when it opens. */
function LazyDialog(props: ComponentProps<typeof AnnotationsDialog>) {
  const { data } = useLoad(async () => await import('./annotations-dialog.tsx'), 'annotations');
  return data ? <data.AnnotationsDialog {...props} /> : null;
}
