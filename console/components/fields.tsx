import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Called when the user leaves the changed field or presses Enter. */
  readonly onChange?: (value: string) => void;
  readonly type?: 'text' | 'password' | 'search' | 'date' | 'number';
  /** Limits of a number. */
  readonly min?: number;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  /** Hint for password managers. */
  readonly autoComplete?: string;
  readonly hint?: string;
  readonly isLabelHidden?: boolean;
  readonly isDisabled?: boolean;
  /** The field takes the free space of its row. */
  readonly canGrow?: boolean;
}

export function TextField({
  label,
  value,
  onInput,
  onChange,
  type = 'text',
  min,
  placeholder,
  isRequired = false,
  autoComplete = 'off',
  hint,
  isLabelHidden = false,
  isDisabled = false,
  canGrow = false,
}: TextFieldProps) {
  const id = useId();
  return (
    <div class={canGrow ? 'field field-grow' : 'field'}>
      <label for={id} class={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <input
        id={id}
        // Preact has one type of properties for each kind of input.
        type={type as 'text'}
        value={value}
        min={min}
        placeholder={placeholder}
        required={isRequired}
        disabled={isDisabled}
        autoComplete={autoComplete}
        autoCapitalize="off"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
        onChange={(event) => onChange?.(event.currentTarget.value)}
      />
      {hint && (
        <small id={`${id}-hint`} class="quiet">
          {hint}
        </small>
      )}
    </div>
  );
}

interface DayFieldProps {
  readonly label: string;
  /** `YYYY-MM-DD`, or empty. */
  readonly value: string;
  readonly onSelect: (day: string) => void;
  readonly isRequired?: boolean;
}

/** A UTC day. While a year is typed, browsers report years such as 0002: they are not selected. */
export const DayField = ({ label, value, onSelect, isRequired = false }: DayFieldProps) => (
  <TextField
    label={label}
    type="date"
    value={value}
    isRequired={isRequired}
    onInput={(day) => {
      if (day === '' || day >= '1970') onSelect(day);
    }}
  />
);

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onSearch: (text: string) => void;
}

/** A text that is searched for when the user leaves the field or presses Enter. */
export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return <TextField label={label} type="search" value={text} onInput={setText} onChange={onSearch} />;
}

interface TextAreaProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
}

/** Several lines of text, such as JSON. */
export function TextArea({ label, value, onInput, rows = 6 }: TextAreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}

interface ToggleFieldProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export const ToggleField = ({ label, isOn, onChange }: ToggleFieldProps) => (
  <label class="toggle">
    <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
);

interface SelectFieldProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly onChange: (value: Value) => void;
  readonly isLabelHidden?: boolean;
}

export function SelectField<Value extends string>({
  label,
  value,
  options,
  onChange,
  isLabelHidden = false,
}: SelectFieldProps<Value>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface CheckboxFieldProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export const CheckboxField = ({ label, isChecked, onChange }: CheckboxFieldProps) => (
  <label class="checkbox">
    <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} /> {label}
  </label>
);

/** A form that submits with Enter. The browser sends nothing itself. */
export const Form = ({
  onSubmit,
  label,
  children,
}: {
  readonly onSubmit: () => void;
  readonly label: string;
  readonly children: ComponentChildren;
}) => (
  <form
    class="form"
    aria-label={label}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
  </form>
);
