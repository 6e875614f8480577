-- The health of a HudiTable, a MetadataIndex or a TableService, for Argo CD.
-- README.md of this folder tells how to use it.
local health = {status = "Progressing", message = "not looked at yet"}
local status = obj.status
if obj.metadata.deletionTimestamp ~= nil then
  health.message = "is being deleted"
  return health
end
if status == nil or status.conditions == nil or status.observedGeneration ~= obj.metadata.generation then
  return health
end

local conditions = {}
for _, condition in ipairs(status.conditions) do
  conditions[condition.type] = condition
end
local ready, stalled = conditions.Ready, conditions.Stalled

-- Stalled first: what is stalled may be reconciling as well.
if stalled ~= nil and stalled.status == "True" then
  return {status = "Degraded", message = stalled.reason .. ": " .. stalled.message}
end
if ready == nil then
  return health
end
health.message = ready.reason .. ": " .. ready.message
if ready.status == "True" then
  health.status = "Healthy"
elseif ready.reason == "Suspended" or ready.reason == "Paused" or ready.reason == "AwaitingApproval" then
  health.status = "Suspended"
end
return health
