import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getApp } from '../../../lib/apps/contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction } from '../../api/use-api.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { FieldList } from '../../components/field-list.tsx';
import { Form, SelectField, TextArea } from '../../components/fields.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { Badge } from '../../components/values.tsx';
import { formatPlatform } from '../../format.ts';
import { useCanChange } from '../../session.ts';
import { parseJsonObject } from './parse-json-object.ts';
import { settingsEndpoints } from './settings-endpoints.ts';

type Stores = ContractResponse<typeof getApp>['stores'];

interface StoreSettingsProps {
  readonly stores: Stores;
  readonly onSaved: () => void;
}

/** Connects stores. Saved settings are never shown: they contain private keys. */
export function StoreSettingsSection({ stores, onSaved }: StoreSettingsProps) {
  const canChange = useCanChange();
  return (
    <Section
      title="Stores"
      description="The store checks the settings before they are saved, encrypted. They are not shown again."
    >
      <FieldList
        fields={stores.map(({ platform, isConnected }) => [
          formatPlatform(platform),
          <Badge key={platform} tone={isConnected ? 'good' : 'neutral'}>
            {isConnected ? 'Settings saved' : 'No settings'}
          </Badge>,
        ])}
      />
      {canChange && <StoreForm stores={stores} onSaved={onSaved} />}
    </Section>
  );
}

function StoreForm({ stores, onSaved }: StoreSettingsProps) {
  const [platform, setPlatform] = useState<string>(stores[0]?.platform ?? 'store_a');
  const [text, setText] = useState('');
  const { run, isRunning, error } = useAction(async () => {
    const body = parseJsonObject(text, 'The settings');
    const { check } = await callApi(settingsEndpoints.setStore, { params: { platform }, body });
    setText('');
    announceResult(`${check} The settings are saved.`);
    onSaved();
  });
  return (
    <Form label="Settings of a store" onSubmit={run}>
      <SelectField
        label="Store"
        value={platform}
        options={stores.map((store) => [store.platform, formatPlatform(store.platform)] as const)}
        onChange={setPlatform}
      />
      <TextArea
        label="Settings as JSON, in the format of the command app set-store"
        value={text}
        onInput={setText}
        rows={4}
      />
      <ErrorNotice error={error} />
      <Row>
        <Button type="submit" isBusy={isRunning}>
          Check and save
        </Button>
      </Row>
    </Form>
  );
}
