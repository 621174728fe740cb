/**
 * Weekly backups for three months and monthly ones for a year, each of the whole table. Point-in-time recovery has all
 * states of the last 35 days, so both move to cold storage after a day, where AWS Backup requires them to stay for 90
 * days.
 * @see https://docs.aws.amazon.com/aws-backup/latest/devguide/API_Lifecycle.html
 */
export const backupRules = [
  { ruleName: 'weekly', cron: { weekDay: 'SUN', hour: '3', minute: '0' }, intervalDays: 7, deleteAfterDays: 91 },
  { ruleName: 'monthly', cron: { day: '1', hour: '4', minute: '0' }, intervalDays: 365 / 12, deleteAfterDays: 365 },
];
export const warmDays = 1;
