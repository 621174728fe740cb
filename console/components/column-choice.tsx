import { useState } from 'preact/hooks';
import { ToggleField } from './fields.tsx';
import { Menu } from './menu.tsx';

type Choices = Readonly<Record<string, boolean>>;

const storageKey = 'claimcheck.columns';

/** Returns the choices of the browser for all tables: whether a column is shown, by caption and title. */
const readChoices = (): Record<string, Choices> => JSON.parse(localStorage.getItem(storageKey) ?? '{}');

interface Choosable {
  readonly title: string;
  readonly isHidden?: boolean;
}

/** Selects the columns of a table that the user has chosen. The first one always stays. */
export function useColumnChoice<Choice extends Choosable>(caption: string, columns: readonly Choice[]) {
  const [choices, setChoices] = useState(() => readChoices()[caption] ?? {});
  const isShown = ({ title, isHidden = false }: Choice, index: number): boolean =>
    index === 0 || (choices[title] ?? !isHidden);
  const choose = (title: string, isOn: boolean) => {
    const changed = { ...choices, [title]: isOn };
    localStorage.setItem(storageKey, JSON.stringify({ ...readChoices(), [caption]: changed }));
    setChoices(changed);
  };
  return {
    shown: columns.filter(isShown),
    menu: (
      <Menu
        label={`Columns of ${caption}`}
        icon="retention"
        text="Columns"
        render={() =>
          columns.map((column, index) =>
            index === 0 ? null : (
              <ToggleField
                key={column.title}
                label={column.title}
                isOn={isShown(column, index)}
                onChange={(isOn) => choose(column.title, isOn)}
              />
            ),
          )
        }
      />
    ),
  };
}
