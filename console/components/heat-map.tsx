import type { ComponentChildren } from 'preact';
import { classes } from './classes.ts';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './notice.tsx';
import { None } from './values.tsx';

interface HeatCell {
  /** Number in the file. */
  readonly value: number;
  readonly text: string;
  /** Share of the strongest color, from 0 to 1. The color repeats what the text states. */
  readonly share: number;
  readonly isIncomplete: boolean;
}

export interface HeatRow {
  readonly key: string;
  readonly name: ComponentChildren;
  readonly size: string;
  readonly sizeValue: number;
  readonly cells: readonly (HeatCell | undefined)[];
}

interface HeatMapProps {
  readonly caption: string;
  readonly rowTitle: string;
  readonly sizeTitle: string;
  /** Name of the periods, which are the columns. */
  readonly unit: 'Month' | 'Week';
  readonly rows: readonly HeatRow[] | undefined;
  readonly isStale: boolean;
}

const maxTone = 5;

/** Rows and columns of the default period, shown while the figures load. */
const expected = 12;

/** A table whose cells have stronger colors for larger values. A value that still changes has an asterisk. */
export function HeatMap({ caption, rowTitle, sizeTitle, unit, rows, isStale }: HeatMapProps) {
  const length = rows ? Math.max(0, ...rows.map(({ cells }) => cells.length)) : expected;
  return (
    <>
      <DataTable
        caption={caption}
        columns={[
          { title: rowTitle, render: ({ name }) => name, csv: ({ key }) => key },
          { title: sizeTitle, align: 'end', render: ({ size }) => size, csv: ({ sizeValue }) => sizeValue },
          ...Array.from(
            { length },
            (_, index): Column<HeatRow> => ({
              title: `${unit} ${index + 1}`,
              align: 'end',
              render: ({ cells }) => <Cell cell={cells[index]} />,
              csv: ({ cells }) => cells[index]?.value,
            }),
          ),
        ]}
        rows={rows}
        getKey={({ key }) => key}
        isStale={isStale}
        empty={<EmptyState title="This period has no figures." />}
        fileName={caption.toLowerCase().replace(/\W+/g, '-')}
        placeholderRows={expected}
      />
      <p class="quiet">* The value still changes.</p>
    </>
  );
}

function Cell({ cell }: { readonly cell: HeatCell | undefined }) {
  if (!cell) return <None />;
  const tone = Math.round(Math.max(0, Math.min(1, cell.share)) * maxTone);
  return (
    <span class={classes('heat', 'number', `heat-${tone}`)}>
      {cell.text}
      {cell.isIncomplete && '*'}
    </span>
  );
}
