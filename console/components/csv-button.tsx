import { announceResult } from './announcer.tsx';
import { Button } from './button.tsx';
import { buildCsv, type CsvValue, downloadFile } from './csv.ts';

export interface CsvColumn<Row> {
  readonly title: string;
  /** Value in the file; without it, the column is not in the file. */
  readonly csv?: (row: Row) => CsvValue;
}

interface CsvButtonProps<Row> {
  /** Without extension. */
  readonly fileName: string;
  readonly columns: readonly CsvColumn<Row>[];
  readonly rows: readonly Row[];
}

/** Downloads the shown rows as a CSV file. */
export const CsvButton = <Row,>({ fileName, columns, rows }: CsvButtonProps<Row>) => (
  <Button kind="quiet" icon="download" onClick={() => downloadRows({ fileName, columns, rows })}>
    CSV
  </Button>
);

function downloadRows<Row>({ fileName, columns, rows }: CsvButtonProps<Row>): void {
  const exported = columns.flatMap(({ title, csv }) => (csv ? [{ title, csv }] : []));
  const lines = rows.map((row) => exported.map(({ csv }) => csv(row)));
  downloadFile(`${fileName}.csv`, buildCsv([exported.map(({ title }) => title), ...lines]));
  announceResult(`${rows.length} rows are downloaded.`);
}
