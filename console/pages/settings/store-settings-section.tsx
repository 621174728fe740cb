import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getApp } from '../../../lib/apps/contract.ts';
import type { getStoreSettings } from '../../../lib/stores/contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction, useApi } from '../../api/use-api.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { FieldList } from '../../components/field-list.tsx';
import { CheckboxField, Form, SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { Badge } from '../../components/values.tsx';
import { formatPlatform } from '../../format.ts';
import { useCanChange } from '../../session.ts';
import { parseJsonObject } from './parse-json-object.ts';
import { toSetting, toText } from './setting-text.ts';
import { settingsEndpoints } from './settings-endpoints.ts';

type Stores = ContractResponse<typeof getApp>['stores'];
type Setting = ContractResponse<typeof getStoreSettings>['fields'][number];

interface StoreSettingsProps {
  readonly stores: Stores;
  readonly selected: string | undefined;
  readonly onSaved: () => void;
}

/** Connects stores. Saved secrets are never shown. */
export function StoreSettingsSection(props: StoreSettingsProps) {
  const canChange = useCanChange();
  return (
    <Section
      title="Stores"
      description="The store checks the settings before they are saved, encrypted. Secrets are not shown again."
    >
      <FieldList
        fields={props.stores.map(({ platform, isConnected }) => [
          formatPlatform(platform),
          <Badge key={platform} tone={isConnected ? 'good' : 'neutral'}>
            {isConnected ? 'Settings saved' : 'No settings'}
          </Badge>,
        ])}
      />
      {canChange && <StoreForm {...props} />}
    </Section>
  );
}

function StoreForm({ stores, selected, onSaved }: StoreSettingsProps) {
  const [platform, setPlatform] = useState<string>(selected ?? stores[0]?.platform ?? 'store_a');
  const [isJson, setJson] = useState(false);
  const { data, error, reload } = useApi(settingsEndpoints.getStoreSettings, { params: { platform } });
  const save = async (body: Record<string, unknown>, query = {}) => {
    const { check } = await callApi(settingsEndpoints.setStore, { params: { platform }, query, body });
    announceResult(`${check} The settings are saved.`);
    reload();
    onSaved();
  };
  return (
    <div class="form">
      <Row>
        <SelectField
          label="Store"
          value={platform}
          options={stores.map((store) => [store.platform, formatPlatform(store.platform)] as const)}
          onChange={setPlatform}
        />
        <CheckboxField label="Edit as JSON" isChecked={isJson} onChange={setJson} />
      </Row>
      <ErrorNotice error={error} onRetry={reload} />
      {isJson && <JsonForm key={platform} onSave={save} />}
      {!isJson && data && (
        <SettingsForm key={`${platform} ${JSON.stringify(data)}`} fields={data.fields} onSave={save} />
      )}
      {!isJson && !data && error === undefined && <Skeleton lines={6} />}
    </div>
  );
}

/** A field for each setting. An empty secret keeps the stored one. */
function SettingsForm({
  fields,
  onSave,
}: {
  readonly fields: readonly Setting[];
  readonly onSave: (body: Record<string, unknown>, query: { readonly merge: 'true' }) => Promise<void>;
}) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const read = (field: Setting) => texts[field.name] ?? toText(field);
  const { run, isRunning, error } = useAction(async () => {
    const entries = fields
      .filter((field) => !(field.isSecret && read(field).trim() === ''))
      .map((field) => [field.name, toSetting(field, read(field))] as const);
    await onSave(Object.fromEntries(entries), { merge: 'true' });
    setTexts({});
  });
  return (
    <Form label="Settings of a store" onSubmit={run}>
      {fields.map((field) => (
        <SettingField
          key={field.name}
          field={field}
          value={read(field)}
          onInput={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
      <SaveRow isRunning={isRunning} error={error} />
    </Form>
  );
}

interface SettingFieldProps {
  readonly field: Setting;
  readonly value: string;
  readonly onInput: (text: string) => void;
}

function SettingField({ field, value, onInput }: SettingFieldProps) {
  const { name, kind, isRequired, isSecret, isSet, choices = [] } = field;
  if (kind === 'boolean')
    return <CheckboxField label={name} isChecked={value === 'true'} onChange={(isOn) => onInput(String(isOn))} />;
  if (kind === 'choice')
    return (
      <SelectField
        label={name}
        value={value}
        options={['', ...choices].map((choice) => [choice, choice])}
        onChange={onInput}
      />
    );
  const state = isSecret && isSet ? 'saved: leave it empty to keep it' : isRequired ? '' : 'optional';
  const notes = [state, kind === 'json' && 'JSON'].filter(Boolean).join(', ');
  const label = notes ? `${name} (${notes})` : name;
  // A text area keeps the line ends of a key.
  return isSecret || kind === 'json' ? (
    <TextArea label={label} value={value} onInput={onInput} rows={isSecret ? 2 : 5} />
  ) : (
    <TextField
      label={label}
      type={kind === 'number' ? 'number' : 'text'}
      value={value}
      onInput={onInput}
      isRequired={isRequired}
    />
  );
}

/** Replaces all settings, like the command `app set-store`. */
function JsonForm({ onSave }: { readonly onSave: (body: Record<string, unknown>) => Promise<void> }) {
  const [text, setText] = useState('');
  const { run, isRunning, error } = useAction(async () => await onSave(parseJsonObject(text, 'The settings')));
  return (
    <Form label="Settings of a store" onSubmit={run}>
      <TextArea
        label="Settings as JSON, in the format of the command app set-store. They replace all settings of the store"
        value={text}
        onInput={setText}
        rows={6}
      />
      <SaveRow isRunning={isRunning} error={error} />
    </Form>
  );
}

const SaveRow = ({ isRunning, error }: { readonly isRunning: boolean; readonly error: unknown }) => (
  <>
    <ErrorNotice error={error} />
    <Row>
      <Button type="submit" isBusy={isRunning}>
        Check and save
      </Button>
    </Row>
  </>
);
