import type { Command } from 'commander';

/** Options that have another name than the member of the API. */
const members: Readonly<Record<string, string>> = {
  consented: 'customerConsented',
  prorated: 'isProrated',
  used: 'consumptionPercentage',
  transaction: 'transactionId',
  from: 'startdate',
  to: 'enddate',
};

/** Names the options of a command in an error of the service, which begins with members of the API. */
export function nameOptions(message: string, { options }: Pick<Command, 'options'>): string {
  const names = new Map<string, string>();
  for (const option of options) {
    const attribute = option.attributeName();
    names.set(members[attribute] ?? attribute, option.long ?? option.flags);
  }
  return message.replace(/^\w+(?:(?:,| and) \w+)*(?=:| is | must )/, (subject) =>
    subject.replace(/\w+/g, (word) => names.get(word) ?? word),
  );
}
