-- Logs how many bytes the body of a request has.
function envoy_on_request(handle)
  local size = 0
  for chunk in handle:bodyChunks() do
    size = size + chunk:length()
  end
  handle:logInfo("request body of " .. size .. " bytes")
end
