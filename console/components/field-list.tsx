import type { ComponentChildren } from 'preact';
import { None } from './values.tsx';

/** Names and values of a record. Values that are undefined or null are shown as absent. */
export const FieldList = ({
  fields,
}: {
  readonly fields: readonly (readonly [name: string, value: ComponentChildren])[];
}) => (
  <dl class="fields">
    {fields.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value === undefined || value === null || value === '' ? <None /> : value}</dd>
      </div>
    ))}
  </dl>
);
