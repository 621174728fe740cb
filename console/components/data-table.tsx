import type { ComponentChildren } from 'preact';
import type { LoadPage } from '../api/use-cursor-page.ts';
import { formatNumber } from '../format.ts';
import { announce } from './announcer.tsx';
import { Button } from './button.tsx';
import { classes } from './classes.ts';
import { useColumnChoice } from './column-choice.tsx';
import type { CsvColumn } from './csv.ts';
import { CsvButton } from './csv-button.tsx';
import { CursorPager } from './cursor-pager.tsx';
import { ExportButton } from './export-button.tsx';
import { Menu } from './menu.tsx';
import { ErrorNotice, useLoadFailure } from './notice.tsx';

export interface Column<Row> extends CsvColumn<Row> {
  /** Content of the cell; without it, the column is in the CSV file only. */
  readonly render?: (row: Row) => ComponentChildren;
  /** `end` for numbers. */
  readonly align?: 'start' | 'end';
  /** The column names the row for screen readers. By default, the first one does. */
  readonly isRowHeader?: boolean;
  /** The column is shown only if the user chooses it. */
  readonly isHidden?: boolean;
}

/** Position of the shown page in the list. */
interface Paging {
  readonly skip: number;
  readonly limit: number;
  /** Undefined if the service does not count the rows; a full page then has a next one. */
  readonly total?: number | undefined;
  /** Number of rows that the service returned, if the table hides some of them. */
  readonly pageCount?: number | undefined;
  readonly onSkip: (skip: number) => void;
}

export interface CursorPaging<Row> {
  readonly cursor: string | undefined;
  readonly nextCursor: string | undefined;
  readonly loadPage: LoadPage<Row>;
}

interface DataTableProps<Row> {
  /** Caption, for screen readers; the section has the visible title. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while the first page is loading. */
  readonly rows: readonly Row[] | undefined;
  readonly getKey: (row: Row) => string;
  /** Links and controls of a row, which a menu at its end opens. */
  readonly renderMenu?: (row: Row) => ComponentChildren;
  /** On a phone, a row is a block of named values. By default, rows with a menu are. */
  readonly isOfRecords?: boolean;
  /** The rows belong to a former page or filter. They stay, dimmed, while the next ones are loading. */
  readonly isStale?: boolean;
  readonly error?: unknown;
  readonly onRetry?: () => void;
  /** Replaces an empty table, and says what to do next. */
  readonly empty: ComponentChildren;
  readonly paging?: Paging;
  /** Position in a list that is read by cursor, and the function that reads its pages for the CSV file. */
  readonly pages?: CursorPaging<Row>;
  /** Name of the CSV file without extension. Without it, there is no download. */
  readonly fileName?: string;
  /** Rows of the placeholder of the first page. */
  readonly placeholderRows?: number;
}

/** A table with more columns has a choice of them. */
const minChoice = 4;

/** A table of one page of rows. Scrolls sideways in its own box, so that the page never does. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, rows, isStale = false, error, onRetry, empty, paging, pages, fileName, renderMenu } = props;
  const { isOfRecords = renderMenu !== undefined } = props;
  const rendered = props.columns.filter(({ render }) => render);
  const { shown: columns, menu } = useColumnChoice(caption, rendered);
  const isFailed = useLoadFailure() && !rows;
  if (error !== undefined && !rows) return <ErrorNotice error={error} {...(onRetry && { onRetry })} />;
  const isEmpty = rows?.length === 0;
  const isFirstPage = (paging?.skip ?? 0) === 0 && !pages?.cursor && !pages?.nextCursor;
  return (
    <div class="table-box">
      <ErrorNotice error={error} {...(onRetry && { onRetry })} />
      {isEmpty && isFirstPage ? (
        empty
      ) : (
        // Scrolls, so it must be reachable by keyboard.
        <section class="table-scroll" aria-label={`Table: ${caption}`} tabIndex={0}>
          <table
            class={classes('table', isOfRecords && 'table-records', isStale && 'is-stale')}
            aria-busy={isStale || (!rows && !isFailed)}
          >
            <caption class="visually-hidden">{caption}</caption>
            <thead>
              <tr>
                {columns.map(({ title, align }) => (
                  <th key={title} scope="col" class={align === 'end' ? 'align-end' : undefined}>
                    {title}
                  </th>
                ))}
                {renderMenu && (
                  <th scope="col">
                    <span class="visually-hidden">Actions</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {rows ? (
                <Rows {...props} columns={columns} rows={rows} />
              ) : isFailed ? (
                <tr>
                  <td colSpan={columns.length} class="quiet">
                    Not loaded.
                  </td>
                </tr>
              ) : (
                <PlaceholderRows {...props} columns={columns} />
              )}
            </tbody>
          </table>
        </section>
      )}
      {(paging || pages || fileName) && !(isEmpty && isFirstPage && !paging?.pageCount) && (
        <footer class="table-footer">
          {paging && rows ? (
            <Pager {...paging} count={paging.pageCount ?? rows.length} isStale={isStale} />
          ) : pages && rows ? (
            <CursorPager {...pages} count={rows.length} isBusy={isStale} />
          ) : (
            <span />
          )}
          {rendered.length > minChoice && menu}
          {fileName && pages && <ExportButton fileName={fileName} columns={props.columns} loadPage={pages.loadPage} />}
          {fileName && !pages && rows && <CsvButton fileName={fileName} columns={props.columns} rows={rows} />}
        </footer>
      )}
    </div>
  );
}

function Rows<Row>({ columns, rows, getKey, renderMenu }: DataTableProps<Row> & { readonly rows: readonly Row[] }) {
  const headerIndex = Math.max(
    0,
    columns.findIndex(({ isRowHeader }) => isRowHeader),
  );
  return rows.map((row) => (
    <tr key={getKey(row)}>
      {columns.map(({ title, render, align }, index) => {
        const className = align === 'end' ? 'align-end' : undefined;
        return index === headerIndex ? (
          <th key={title} scope="row" class={className}>
            {render?.(row)}
          </th>
        ) : (
          <td key={title} class={className} data-title={title}>
            {render?.(row)}
          </td>
        );
      })}
      {renderMenu && (
        <td class="row-menu">
          <Menu label="Actions" icon="more" render={() => renderMenu(row)} />
        </td>
      )}
    </tr>
  ));
}

const PlaceholderRows = <Row,>({ columns, placeholderRows = 8 }: DataTableProps<Row>) =>
  Array.from({ length: placeholderRows }, (_, row) => (
    <tr key={row}>
      {columns.map(({ title }) => (
        <td key={title}>
          <span class="skeleton-text" />
        </td>
      ))}
    </tr>
  ));

function Pager({
  skip,
  limit,
  total,
  onSkip,
  count,
  isStale,
}: Paging & { readonly count: number; readonly isStale: boolean }) {
  const last = total === undefined ? undefined : Math.floor((total - 1) / limit) * limit;
  const hasNext = last === undefined ? count >= limit : skip < last;
  const range = count === 0 ? 'No rows' : `${formatNumber(skip + 1)}–${formatNumber(skip + count)}`;
  const go = (target: number) => {
    onSkip(Math.max(0, target));
    announce(`Rows from ${target + 1}.`);
  };
  // A single page can hide rows, and needs no label.
  if (skip === 0 && !hasNext) return <span />;
  return (
    <nav class="pager" aria-label="Pages of the table">
      <span class="number pager-range">
        {range}
        {total !== undefined && ` of ${formatNumber(total)}`}
      </span>
      <Button kind="quiet" isDisabled={skip === 0} onClick={() => go(0)}>
        First
      </Button>
      <Button kind="quiet" isDisabled={skip === 0} onClick={() => go(skip - limit)}>
        Previous
      </Button>
      <Button kind="quiet" isDisabled={!hasNext} isBusy={isStale} onClick={() => go(skip + limit)}>
        Next
      </Button>
      {last !== undefined && (
        <Button kind="quiet" isDisabled={skip >= last} onClick={() => go(last)}>
          Last
        </Button>
      )}
    </nav>
  );
}
