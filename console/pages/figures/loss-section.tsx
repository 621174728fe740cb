import type { RetentionCohort } from '../../../lib/statistics/cohort-contract.ts';
import { SelectField } from '../../components/fields.tsx';
import { Section } from '../../components/layout.tsx';
import { formatNumber, formatPercent } from '../../format.ts';
import { changeQuery } from '../../router.tsx';
import type { GroupView } from './figures-view.ts';
import { nameDimension } from './filters.ts';
import { GroupTable, Value } from './group-section.tsx';
import { readLoss } from './retention-sums.ts';
import { describeSegment } from './segments.ts';
import type { PageFigures } from './use-figures.ts';

const lossPeriods = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

interface LossSectionProps extends Pick<PageFigures<RetentionCohort>, 'query' | 'filters' | 'view' | 'range'> {
  /** The values of the dimension that have subscriptions. */
  readonly groups: readonly GroupView<RetentionCohort>[] | undefined;
  readonly unit: 'Week' | 'Month';
}

/** The values of the dimension by the share of the subscriptions that they lose in a period, largest first. */
export function LossSection(props: LossSectionProps) {
  const { groups, query, unit } = props;
  const { by } = props.filters;
  if (by === 'none') return null;
  const period = lossPeriods.find((number) => String(number) === query.loss) ?? 2;
  const name = unit.toLowerCase();
  const read = ({ items = [] }: GroupView<RetentionCohort>) => readLoss(items, period - 1);
  const sorted = groups?.toSorted(
    (a, b) => (read(b)?.share ?? -1) - (read(a)?.share ?? -1) || (read(b)?.lost ?? 0) - (read(a)?.lost ?? 0),
  );
  return (
    <Section
      title={`Largest loss in ${name} ${period}`}
      description={sorted ? describeLargest(sorted[0], sorted[0] && read(sorted[0])) : '\u00a0'}
      actions={
        <SelectField
          label={`Loss in ${name}`}
          value={String(period)}
          options={lossPeriods.map((number) => [String(number), `${unit} ${number}`] as const)}
          onChange={(loss) => changeQuery({ loss })}
        />
      }
    >
      <GroupTable
        caption={`Loss in ${name} ${period} by ${nameDimension(by).toLowerCase()}`}
        {...props}
        groups={sorted}
        columns={[
          {
            title: `Active in ${name} ${period - 1}`,
            align: 'end',
            render: (group) => <Value value={read(group)?.before} format={formatNumber} />,
            csv: (group) => read(group)?.before,
          },
          {
            title: 'Lost',
            align: 'end',
            render: (group) => <Value value={read(group)?.lost} format={formatNumber} />,
            csv: (group) => read(group)?.lost,
          },
          {
            title: 'Share lost',
            align: 'end',
            render: (group) => <Value value={read(group)?.share} format={formatPercent} />,
            csv: (group) => read(group)?.share,
          },
        ]}
      />
    </Section>
  );
}

const describeLargest = (
  group: GroupView<RetentionCohort> | undefined,
  loss: ReturnType<typeof readLoss>,
): string | undefined =>
  group && loss && loss.lost > 0
    ? `${describeSegment(group.segment)}, loses most: ${formatNumber(loss.lost)} of ${formatNumber(loss.before)} subscriptions, ${formatPercent(loss.share)}.`
    : undefined;
