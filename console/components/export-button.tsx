import { useEffect, useRef, useState } from 'preact/hooks';
import type { LoadPage } from '../api/use-cursor-page.ts';
import { formatNumber } from '../format.ts';
import { announceResult } from './announcer.tsx';
import { Button } from './button.tsx';
import { buildCsv, type CsvColumn, downloadFile, toCsvRows } from './csv.ts';
import { Dialog, DialogButton } from './dialog.tsx';
import { ErrorNotice } from './notice.tsx';

/** The maximum of the service. */
const exportPageSize = 1_000;

interface ExportButtonProps<Row> {
  /** Without extension. */
  readonly fileName: string;
  readonly columns: readonly CsvColumn<Row>[];
  readonly loadPage: LoadPage<Row>;
}

/** Downloads all rows of a list with its filters as a CSV file, page by page, with the progress. */
export const ExportButton = <Row,>(props: ExportButtonProps<Row>) => (
  <DialogButton kind="quiet" icon="download" render={(onClose) => <ExportDialog {...props} onClose={onClose} />}>
    Export all as CSV
  </DialogButton>
);

function ExportDialog<Row>(props: ExportButtonProps<Row> & { readonly onClose: () => void }) {
  const { onClose } = props;
  const [count, setCount] = useState(0);
  const [error, setError] = useState<unknown>();
  const latest = useRef(props);
  useEffect(() => {
    const controller = new AbortController();
    const { fileName, ...source } = latest.current;
    exportRows({ ...source, signal: controller.signal, onProgress: setCount }).then(
      ({ parts, total }) => {
        downloadFile(`${fileName}.csv`, parts);
        onClose();
        announceResult(`${formatNumber(total)} rows are downloaded.`);
      },
      (failure: unknown) => {
        if (!controller.signal.aborted) setError(failure);
      },
    );
    return () => controller.abort();
  }, []);
  return (
    <Dialog title="Export all rows" onClose={onClose}>
      <p role="status">
        {error === undefined
          ? `${formatNumber(count)} rows so far.`
          : `The export stopped after ${formatNumber(count)} rows. No file is saved.`}
      </p>
      <ErrorNotice error={error} />
      <div class="dialog-actions">
        <Button onClick={onClose}>{error === undefined ? 'Cancel' : 'Close'}</Button>
      </div>
    </Dialog>
  );
}

interface ExportSource<Row> extends Pick<ExportButtonProps<Row>, 'columns' | 'loadPage'> {
  readonly signal: AbortSignal;
  readonly onProgress: (count: number) => void;
}

/** Loads all pages and converts each to a part of the file. Only the text of a page is kept. */
async function exportRows<Row>({ columns, loadPage, signal, onProgress }: ExportSource<Row>) {
  const { titles, toLines } = toCsvRows(columns);
  const parts = [buildCsv([titles])];
  let total = 0;
  let cursor: string | undefined;
  do {
    const page = await loadPage({ cursor, limit: exportPageSize }, signal);
    parts.push(toLines(page.rows));
    total += page.rows.length;
    onProgress(total);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { parts, total };
}
