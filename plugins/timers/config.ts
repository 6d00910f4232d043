import { seconds } from "#config/variable.ts";

export const timerVariables = {
  pollSeconds: seconds("TIMER_POLL_INTERVAL", 1, {
    min: 1,
    text: "Seconds between two looks for timers of models that are due",
  }),
};
