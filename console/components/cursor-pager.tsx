import { formatNumber } from '../format.ts';
import { changeQuery } from '../router.tsx';
import { Button } from './button.tsx';

interface CursorPagerProps {
  /** Cursor of the shown page, in the query of the URL. */
  readonly cursor: string | undefined;
  readonly nextCursor: string | undefined;
  readonly count: number;
  readonly isBusy: boolean;
}

/** Leads to the next page of a list and back to its start. The browser's Back leads to the previous page. */
export const CursorPager = ({ cursor, nextCursor, count, isBusy }: CursorPagerProps) => (
  <nav class="pager" aria-label="Pages of the table">
    <span class="number pager-range">{count === 1 ? '1 row' : `${formatNumber(count)} rows`}</span>
    {(cursor || nextCursor !== undefined) && (
      <>
        <Button kind="quiet" isDisabled={!cursor} onClick={() => changeQuery({ cursor: undefined })}>
          First
        </Button>
        <Button
          kind="quiet"
          isDisabled={nextCursor === undefined}
          isBusy={isBusy}
          onClick={() => changeQuery({ cursor: nextCursor })}
        >
          Next
        </Button>
      </>
    )}
  </nav>
);
