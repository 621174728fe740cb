import type { Annotation, PriceChange } from '../../lib/annotations/contract.ts';
import type { Loaded } from '../api/use-api.ts';
import type { ChartNote } from '../components/chart-notes.ts';
import { formatMoney, formatPlatform, formatProductId } from '../format.ts';

export type Annotations = Loaded<{
  readonly rows: readonly Annotation[];
  readonly priceChanges: readonly PriceChange[];
}>;

export interface AnnotationsProps {
  readonly annotations: Annotations;
}

export const listNotes = ({ data }: Annotations): readonly ChartNote[] =>
  data ? [...data.rows, ...data.priceChanges.map(toNote)] : [];

export const toNote = ({ date, platform, productId, currency, fromMicros, toMicros }: PriceChange): ChartNote => ({
  date,
  text: `${formatProductId(productId)}, ${formatPlatform(platform)}: ${formatMoney(fromMicros, currency)} → ${formatMoney(toMicros, currency)}`,
});
