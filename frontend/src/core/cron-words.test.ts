import { expect, test } from "vitest";
import texts from "../../../texts/cron.json";
import { cronFault, cronWords, type Tongue } from "./cron-words";
import { withValues } from "./texts";
const tongue = (language: "en" | "zh"): Tongue => ({
  language,
  t: (key, values = {}) => withValues((texts as Record<string, string[]>)[key.replace("cron.", "")]?.[language === "en" ? 0 : 1] ?? key, values),
});
const [en, zh] = [tongue("en"), tongue("zh")];

const WORDS: readonly [expression: string, english: string, chinese: string][] = [
  ["* * * * *", "Every minute", "每分钟"],
  ["*/15 * * * *", "Every 15 minutes", "每 15 分钟"],
  ["*/7 * * * *", "Every 7 minutes from minute 0 to minute 56 of each hour", "每小时第 0 至 56 分钟内每 7 分钟"],
  ["30 2 * * 1-5", "At 02:30 on weekdays", "每周一至周五 02:30"],
  ["30 2 * * MON-FRI", "At 02:30 on weekdays", "每周一至周五 02:30"],
  ["0 6 * * *", "At 06:00 every day", "每天 06:00"],
  ["0 * * * *", "Every hour", "每小时"],
  ["15 * * * *", "At minute 15 of each hour", "每小时第 15 分钟"],
  ["5,20,35,50 * * * *", "At minutes 5, 20, 35, and 50 of each hour", "每小时第 5、20、35、50 分钟"],
  ["10-20 * * * *", "Every minute from minute 10 to minute 20 of each hour", "每小时第 10 至 20 分钟内每分钟"],
  ["0 */2 * * *", "Every 2 hours", "每 2 小时"],
  ["15 */8 * * *", "Every 8 hours at minute 15", "每 8 小时的第 15 分钟"],
  ["0 1-23/2 * * *", "Every 2 hours from 01:00 to 23:00 every day", "每天 01:00 至 23:00 每 2 小时"],
  ["0 9-17 * * 1-5", "Every hour from 09:00 to 17:00 on weekdays", "每周一至周五 09:00 至 17:00 每小时"],
  ["*/10 9-17 * * *", "Every 10 minutes from 09:00 to 17:59 every day", "每天 09:00 至 17:59 每 10 分钟"],
  ["0,30 9-17 * * *", "Every 30 minutes from 09:00 to 17:59 every day", "每天 09:00 至 17:59 每 30 分钟"],
  ["* 9 * * *", "Every minute from 09:00 to 09:59 every day", "每天 09:00 至 09:59 每分钟"],
  ["*/5 0,12,18-20 * * *", "Every 5 minutes from 00:00 to 00:59, from 12:00 to 12:59, and from 18:00 to 20:59 every day", "每天 00:00 至 00:59、12:00 至 12:59、18:00 至 20:59 每 5 分钟"],
  ["*/5 */2 * * *", "Every 5 minutes in the hours 00, 02, 04, 06, 08, 10, 12, 14, 16, 18, 20, and 22 every day", "每天 00、02、04、06、08、10、12、14、16、18、20、22 时 每 5 分钟"],
  ["0 9-12,14-17 * * *", "At minute 0 from 09:00 to 12:59 and from 14:00 to 17:59 every day", "每天 09:00 至 12:59、14:00 至 17:59 第 0 分钟"],
  ["0 9,12,18 * * 6,0", "At 09:00, 12:00, and 18:00 on weekends", "每周六、周日 09:00、12:00、18:00"],
  ["0 0 1 * *", "At 00:00 on day 1 of the month", "每月1日 00:00"],
  ["0 0 1,15 * *", "At 00:00 on days 1 and 15 of the month", "每月1日、15日 00:00"],
  ["0 0 1-7 * *", "At 00:00 on days 1 to 7 of the month", "每月1日至7日 00:00"],
  ["0 0 */2 * *", "At 00:00 every 2 days from day 1 to day 31 of the month", "每月1日至31日每 2 天 00:00"],
  ["0 0 L * *", "At 00:00 on the last day of the month", "每月最后一天 00:00"],
  ["0 0 LW * *", "At 00:00 on the last weekday of the month", "每月最后一个工作日 00:00"],
  ["0 0 15W,L * *", "At 00:00 on the weekday nearest day 15 of the month and on the last day of the month", "每月最接近15日的工作日、每月最后一天 00:00"],
  ["0 0 1 1 *", "At 00:00 on January 1", "每年1月1日 00:00"],
  ["0 0 1,15 1 *", "At 00:00 on January 1 and 15", "每年1月1日、15日 00:00"],
  ["0 0 1 1,7 *", "At 00:00 on day 1 of January and July", "每年1月、7月的1日 00:00"],
  ["0 0 1 */3 *", "At 00:00 on day 1 of January, April, July, and October", "每年1月、4月、7月、10月的1日 00:00"],
  ["0 0 L 6-8 *", "At 00:00 on the last day of each month from June to August", "每年6月至8月每月最后一天 00:00"],
  ["0 6 * 6-8 *", "At 06:00 every day from June to August", "每年6月至8月每天 06:00"],
  ["0 * * 1 *", "Every hour in January", "每年1月 每小时"],
  ["0 6 * * 1", "At 06:00 on Mondays", "每周一 06:00"],
  ["0 6 * * 1,3,5", "At 06:00 on Mondays, Wednesdays, and Fridays", "每周一、周三、周五 06:00"],
  ["0 6 * * 2-5", "At 06:00 from Tuesday to Friday", "每周二至周五 06:00"],
  ["0 6 * * FRI-SUN", "At 06:00 from Friday to Sunday", "每周五至周日 06:00"],
  ["0 6 * * 5#2", "At 06:00 on the second Friday of the month", "每月第二个周五 06:00"],
  ["0 6 * * 5L", "At 06:00 on the last Friday of the month", "每月最后一个周五 06:00"],
  ["0 6 * 1 1,5#1", "At 06:00 on Mondays in January and on the first Friday of January", "每年1月每周一、每年1月的第一个周五 06:00"],
  ["0 0 13 * 5", "At 00:00 on day 13 of the month or on Fridays", "每月13日或每周五 00:00"],
  ["0 0 13 * +5", "At 00:00 on day 13 of the month, but only on Fridays", "每月13日，且仅限每周五 00:00"],
  ["0 0 */1 * 5", "At 00:00 every day", "每天 00:00"],
  ["@daily", "At 00:00 every day", "每天 00:00"],
  ["@Weekly", "At 00:00 on Sundays", "每周日 00:00"],
  ["@yearly", "At 00:00 on January 1", "每年1月1日 00:00"],
  ["@hourly", "Every hour", "每小时"],
  ["0 0 13 1 5", "At 00:00 on January 13 or on Fridays in January", "每年1月13日或每年1月每周五 00:00"],
  ["0 6 * 1,7 1-5", "At 06:00 on weekdays in January and July", "每年1月、7月每周一至周五 06:00"],
  ["0 6 * 1,7 *", "At 06:00 every day in January and July", "每年1月、7月每天 06:00"],
  ["*/30 * * * *", "Every 30 minutes", "每 30 分钟"],
  ["0 0,12 * * *", "At 00:00 and 12:00 every day", "每天 00:00、12:00"],
  ["0 0 1-7 * +1", "At 00:00 on days 1 to 7 of the month, but only on Mondays", "每月1日至7日，且仅限每周一 00:00"],
  ["*/20 * * 3 6,0", "Every 20 minutes on weekends in March", "每年3月每周六、周日 每 20 分钟"],
  ["0 0 10,20,28-30 6-8 *", "At 00:00 on days 10, 20, and 28 to 30 of each month from June to August", "每年6月至8月每月10日、20日、28日至30日 00:00"],
];

test.each(WORDS)("%s is said in words", (expression, english, chinese) => {
  expect(cronWords(expression, en)).toBe(english);
  expect(cronWords(expression, zh)).toBe(chinese);
  expect(cronFault(expression, en)).toBeNull();
});

test.each([
  ["0 25 * * *", "Hour: “25” is not valid. Write a number from 0 to 23, a list (1,2), a range (1-5), a step (*/2) or *.", "时：“25”无效。请写 0 至 23 的数字、列表（1,2）、范围（1-5）、步长（*/2）或 *。"],
  ["0 0 * * Fry", "Day of week: “Fry” is not valid. Write a number from 0 to 7, a list (1,2), a range (1-5), a step (*/2) or *.", "星期：“Fry”无效。请写 0 至 7 的数字、列表（1,2）、范围（1-5）、步长（*/2）或 *。"],
  ["0 6 * *", "Write five fields: minute, hour, day of month, month, day of week. There are 4.", "请写五个字段：分、时、日、月、星期。现有 4 个。"],
  ["@midnight", "The nicknames are @hourly, @daily, @weekly, @monthly and @yearly.", "可用的简写：@hourly、@daily、@weekly、@monthly、@yearly。"],
])("%s is refused with the part that is wrong", (expression, english, chinese) => {
  expect(cronFault(expression, en)).toBe(english);
  expect(cronFault(expression, zh)).toBe(chinese);
  expect(cronWords(expression, en)).toBeNull();
});
