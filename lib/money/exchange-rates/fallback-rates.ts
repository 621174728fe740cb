import type { DailyRates } from '../daily-rates.ts';

/**
 * Reference rates of the European Central Bank of 31 December 2024, for purchase dates without stored rates.
 * @see https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html
 */
export const fallbackRates: DailyRates = {
  date: '2024-12-31',
  perEuro: {
    USD: '1.0389',
    JPY: '163.06',
    BGN: '1.9558',
    CZK: '25.185',
    DKK: '7.4578',
    GBP: '0.82918',
    HUF: '411.35',
    PLN: '4.2750',
    RON: '4.9743',
    SEK: '11.4590',
    CHF: '0.9412',
    ISK: '143.90',
    NOK: '11.7950',
    TRY: '36.7372',
    AUD: '1.6772',
    BRL: '6.4253',
    CAD: '1.4948',
    CNY: '7.5833',
    HKD: '8.0686',
    IDR: '16820.88',
    ILS: '3.7885',
    INR: '88.9335',
    KRW: '1532.15',
    MXN: '21.5504',
    MYR: '4.6454',
    NZD: '1.8532',
    PHP: '60.301',
    SGD: '1.4164',
    THB: '35.676',
    ZAR: '19.6188',
  },
};
