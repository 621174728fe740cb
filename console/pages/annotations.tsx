import type { ComponentChildren } from 'preact';
import type { Annotation, listAnnotations, PriceChange } from '../../lib/annotations/contract.ts';
import { defineEndpoint } from '../api/client.ts';
import { type Loaded, useApi, useLoad } from '../api/use-api.ts';
import { type ChartNote, ChartNotes } from '../components/chart-notes.ts';
import { DialogButton } from '../components/dialog.tsx';
import { formatMoney, formatPlatform, formatProductId } from '../format.ts';
import type { Range } from './periods.ts';

const listEndpoint = defineEndpoint<typeof listAnnotations>('GET', '/v3/annotations');

export type Annotations = Loaded<{
  readonly rows: readonly Annotation[];
  readonly priceChanges: readonly PriceChange[];
}>;

/** Loads the annotations of the days of a page. */
export const useAnnotations = ({ first, last }: Range): Annotations =>
  useApi(listEndpoint, { query: { startdate: first, enddate: last } });

export interface AnnotationsProps {
  readonly annotations: Annotations;
}

/** Shows the annotations in the charts below. */
export const AnnotatedCharts = ({
  annotations,
  children,
}: AnnotationsProps & { readonly children: ComponentChildren }) => (
  <ChartNotes.Provider value={listNotes(annotations)}>{children}</ChartNotes.Provider>
);

export const listNotes = ({ data }: Annotations): readonly ChartNote[] =>
  data ? [...data.rows, ...data.priceChanges.map(toNote)] : [];

export const toNote = ({ date, platform, productId, currency, fromMicros, toMicros }: PriceChange): ChartNote => ({
  date,
  text: `${formatProductId(productId)}, ${formatPlatform(platform)}: ${formatMoney(fromMicros, currency)} → ${formatMoney(toMicros, currency)}`,
});

/** Opens the list of the annotations. With the secret key, they can be added and deleted. */
export function AnnotationsButton({ annotations }: AnnotationsProps) {
  const count = listNotes(annotations).length;
  return (
    <DialogButton
      kind="quiet"
      icon="note"
      render={(onClose) => <LazyDialog annotations={annotations} onClose={onClose} />}
    >
      Annotations{count > 0 && ` (${count})`}
    </DialogButton>
  );
}

export type AnnotationsDialogProps = AnnotationsProps & { readonly onClose: () => void };

/** The dialog is loaded when it opens. */
function LazyDialog(props: AnnotationsDialogProps) {
  const { data } = useLoad(async () => await import('./annotations-dialog.tsx'), 'annotations');
  return data ? <data.AnnotationsDialog {...props} /> : null;
}
