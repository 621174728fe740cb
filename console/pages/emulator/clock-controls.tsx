import { moveClock } from '../../api/emulator.ts';
import { useAction } from '../../api/use-api.ts';
import { useNow } from '../../clock.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { formatDateTime, formatPercent, formatRelative } from '../../format.ts';
import { advanceYear, stopPlayback, usePlayback } from './playback.ts';

const periods = [
  ['PT1H', '1 hour'],
  ['P1D', '1 day'],
  ['P1W', '1 week'],
  ['P1M', '1 month'],
] as const;

interface ClockControlsProps {
  readonly nextDueTime: string | undefined;
  readonly onChange: () => void;
}

/** Moves the clock of the stores and of the service forward. */
export function ClockControls({ nextDueTime, onChange }: ClockControlsProps) {
  const now = useNow();
  const { isPlaying, progress, error: playbackError } = usePlayback();
  const { run, isRunning, error } = useAction(async (move: Parameters<typeof moveClock>[0]) => {
    await moveClock(move);
    announceResult('The clock is moved.');
    onChange();
  });
  const isDisabled = isRunning || isPlaying;
  return (
    <Section
      title="Clock"
      description={
        nextDueTime === undefined
          ? 'The stores have nothing scheduled. A subscription that renews automatically has.'
          : `The next event of the stores is ${formatRelative(new Date(nextDueTime), now)}: ${formatDateTime(new Date(nextDueTime))}.`
      }
    >
      <Row>
        {periods.map(([advance, label]) => (
          <Button key={advance} onClick={() => run({ advance })} isDisabled={isDisabled}>
            + {label}
          </Button>
        ))}
        <Button
          onClick={() => nextDueTime !== undefined && run({ set: nextDueTime })}
          isDisabled={isDisabled || nextDueTime === undefined}
        >
          To the next event
        </Button>
        {isPlaying ? (
          <>
            <Button onClick={stopPlayback} kind="danger">
              Stop
            </Button>
            <progress value={progress} aria-label="Part of the year that has passed" />
            <span class="number">{formatPercent(progress)}</span>
          </>
        ) : (
          <Button onClick={advanceYear} kind="primary" isDisabled={isRunning}>
            Play a year in a minute
          </Button>
        )}
      </Row>
      <ErrorNotice error={error ?? playbackError} />
    </Section>
  );
}
