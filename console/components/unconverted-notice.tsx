import { formatPercent } from '../format.ts';
import { Notice } from './notice.tsx';

/** States which part of the payments the amounts in US dollars lack, because their currency has no exchange rate. */
export const UnconvertedNotice = ({ share }: { readonly share: number }) =>
  share > 0 ? (
    <Notice>
      {formatPercent(share)} of the payments are in currencies without an exchange rate. The amounts in US dollars lack
      them: set rates with <code>app set-exchange-rates</code>.
    </Notice>
  ) : null;
