import { Button } from '../components/button.tsx';
import { DayField, SelectField } from '../components/fields.tsx';
import { Row } from '../components/layout.tsx';
import { changeQuery } from '../router.tsx';
import { type Period, type PeriodId, periods, recentPeriods } from './periods.ts';

interface PeriodChoiceProps<Interval extends string> {
  readonly period: Period;
  readonly interval: Interval;
  readonly intervals: readonly { readonly id: Interval; readonly label: string }[];
  readonly presets?: readonly PeriodId[] | undefined;
}

/** Choice of the period and of the interval of the charts. Both are in the link. */
export const PeriodChoice = <Interval extends string>({
  period,
  interval,
  intervals,
  presets = recentPeriods,
}: PeriodChoiceProps<Interval>) => (
  <Row>
    {periods
      .filter(({ id }) => presets.includes(id))
      .map(({ id, label }) => (
        <Button
          key={id}
          isPressed={id === period.id}
          onClick={() =>
            changeQuery({
              period: id,
              interval: undefined,
              // A custom period starts with the days that were shown.
              from: id === 'custom' ? period.current.first : undefined,
              to: id === 'custom' ? period.current.last : undefined,
            })
          }
        >
          {label}
        </Button>
      ))}
    {period.id === 'custom' && (
      <>
        <DayField label="From" value={period.current.first} onSelect={(from) => changeQuery({ from })} />
        <DayField label="To" value={period.current.last} onSelect={(to) => changeQuery({ to })} />
      </>
    )}
    <SelectField
      label="Interval"
      isLabelHidden
      value={interval}
      options={intervals.map(({ id, label }) => [id, label] as const)}
      onChange={(id) => changeQuery({ interval: id })}
    />
  </Row>
);
