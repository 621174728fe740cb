import type { ComponentChildren } from 'preact';
import { None } from './values.tsx';

/** Names and values of a record. Values that are undefined, null, false or empty are shown as absent. */
export const FieldList = ({
  fields,
}: {
  readonly fields: readonly (readonly [name: string, value: ComponentChildren])[];
}) => (
  <dl class="fields">
    {fields.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value || value === 0 ? value : <None />}</dd>
      </div>
    ))}
  </dl>
);
