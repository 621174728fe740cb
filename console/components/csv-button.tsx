import { announceResult } from './announcer.tsx';
import { Button } from './button.tsx';
import { buildCsv, type CsvColumn, downloadFile, toCsvRows } from './csv.ts';

interface CsvButtonProps<Row> {
  /** Without extension. */
  readonly fileName: string;
  readonly columns: readonly CsvColumn<Row>[];
  readonly rows: readonly Row[];
  readonly label?: string;
}

/** Downloads the shown rows as a CSV file. */
export const CsvButton = <Row,>({ fileName, columns, rows, label = 'CSV' }: CsvButtonProps<Row>) => (
  <Button kind="quiet" icon="download" onClick={() => downloadRows({ fileName, columns, rows })}>
    {label}
  </Button>
);

function downloadRows<Row>({ fileName, columns, rows }: CsvButtonProps<Row>): void {
  const { titles, toLines } = toCsvRows(columns);
  downloadFile(`${fileName}.csv`, [buildCsv([titles]), toLines(rows)]);
  announceResult(`${rows.length} rows are downloaded.`);
}
